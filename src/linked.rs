//! Functions that the rest of the program does without until their module is there.
//!
//! `cargo xtask` builds the page in two modules, and the second is fetched when it is first needed (`ui::later`). A room
//! that holds much of which the landing needs nothing (consumers, groups, most statements) lays it behind a table of
//! functions, says [`linked!`] beside the table, and reaches those functions through `get` alone; so they become a part of
//! the second module. Wherever the program is one piece, natively and in a page that Trunk has built, `get` always gives
//! the table, and the compiler sees through it.
//!
//! A table is there for the whole program or not at all, and nothing that it leads to can begin before it is there: who
//! calls it for something new refuses ([`MISSING`]), who calls it for what has begun may rely on it.
//!
//! Deliberately absent: fetching, which only the page can do.

/// What is said where a table was needed and is not there, and what to do about it.
pub const MISSING: (&str, &str) = (
    "a part of the program is not there yet",
    "wait until it has come, then do it again",
);

/// Declares `get` and `link` for a table of functions, which are all that the module says of where it comes from.
macro_rules! linked {
    ($table:ident: $Type:ty) => {
        /// The table, once it is there.
        #[cfg(not(all(feature = "split", target_arch = "wasm32")))]
        pub(crate) fn get() -> Option<&'static $Type> {
            Some(&$table)
        }

        /// The second module is there, and this table in it.
        #[cfg(not(all(feature = "split", target_arch = "wasm32")))]
        pub(crate) fn link() {}

        #[cfg(all(feature = "split", target_arch = "wasm32"))]
        static HERE: std::sync::OnceLock<&'static $Type> = std::sync::OnceLock::new();

        /// The table, once it is there.
        #[cfg(all(feature = "split", target_arch = "wasm32"))]
        pub(crate) fn get() -> Option<&'static $Type> {
            HERE.get().copied()
        }

        /// The second module is there, and this table in it.
        #[cfg(all(feature = "split", target_arch = "wasm32"))]
        pub(crate) fn link() {
            HERE.get_or_init(|| &$table);
        }
    };
}

pub(crate) use linked;
