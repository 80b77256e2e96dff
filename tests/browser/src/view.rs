//! What the person has before them: the size of the window, their colours, and whether things may move.

/// The colour scheme that the person's system asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Dark ink on light paper.
    Light,
    /// Light ink on dark paper.
    Dark,
}

/// Whether the person's system asks for less motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// No preference.
    Full,
    /// `prefers-reduced-motion: reduce`.
    Reduced,
}

/// Whose colours are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contrast {
    /// The page's own.
    Own,
    /// `forced-colors: active`: those that the person's system forces on every page.
    Forced,
}

/// One window on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// In CSS pixels.
    pub width: u32,
    /// In CSS pixels.
    pub height: u32,
    /// The colour scheme.
    pub theme: Theme,
    /// The motion preference.
    pub motion: Motion,
    /// Whose colours are shown.
    pub contrast: Contrast,
    /// How many times slower the processor appears; 1 is this machine as it is.
    pub slowdown: u32,
}

impl View {
    /// A desktop.
    pub const WIDE: View = View::sized(1440, 960);
    /// A small laptop or a tablet.
    pub const MEDIUM: View = View::sized(1024, 768);
    /// A phone.
    pub const PHONE: View = View::sized(390, 844);
    /// The narrowest that the page must reflow to.
    pub const NARROWEST: View = View::sized(320, 640);

    /// A window of this size, light, with motion, at full speed.
    pub const fn sized(width: u32, height: u32) -> View {
        View {
            width,
            height,
            theme: Theme::Light,
            motion: Motion::Full,
            contrast: Contrast::Own,
            slowdown: 1,
        }
    }

    /// The same in the dark.
    pub const fn dark(self) -> View {
        View {
            theme: Theme::Dark,
            ..self
        }
    }

    /// The same with reduced motion.
    pub const fn still(self) -> View {
        View {
            motion: Motion::Reduced,
            ..self
        }
    }

    /// The same in the system's colours.
    pub const fn forced(self) -> View {
        View {
            contrast: Contrast::Forced,
            ..self
        }
    }

    /// The same on a processor this many times slower.
    pub const fn slowed(self, times: u32) -> View {
        View {
            slowdown: times,
            ..self
        }
    }
}
