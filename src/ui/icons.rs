//! The few glyphs of the page, as paths on a square of sixteen.

use yew::prelude::*;

/// A glyph, hidden from assistive technology: the words beside it say the same.
pub fn icon(name: &'static str) -> Html {
    let path = match name {
        "play" => "M4 2.5v11L13 8z",
        "pause" => "M4 3h3v10H4zM9 3h3v10H9z",
        "stop" => "M3.5 3.5h9v9h-9z",
        "back" => "M11.5 3v10L4 8z",
        "next" => "M4.5 3v10L12 8z",
        "start" => "M3 3h2v10H3zM13 3v10L6 8z",
        "end" => "M11 3h2v10h-2zM3 3v10l7-5z",
        "bolt" => "M9 1 3 9h4l-1 6 6-8H8z",
        "power" => "M7 1h2v7H7zM4.5 3.2l1.2 1.6a4 4 0 1 0 4.6 0l1.2-1.6a6 6 0 1 1-7 0z",
        "cut" => "M1 7h4v2H1zM11 7h4v2h-4zM5.6 12.6 9 3l1.4.4L7 13z",
        "heal" => "M1 7h14v2H1z",
        "link" => "M5 1h6v5H9v4h2v5H5v-5h2V6H5z",
        "crown" => "M2 12V5l3.4 2.8L8 3l2.6 4.8L14 5v7z",
        "check" => "M2.5 8.3 4 6.8l2.7 2.7L12 4.2l1.5 1.5-6.8 6.8z",
        "cross" => "M4 2.6 8 6.6l4-4L13.4 4l-4 4 4 4-1.4 1.4-4-4-4 4L2.6 12l4-4-4-4z",
        "flag" => "M3 1.5h1.6V15H3zM5 2h8l-2 3 2 3H5z",
        "dots" => "M2 7h2.4v2.4H2zM6.8 7h2.4v2.4H6.8zM11.6 7H14v2.4h-2.4z",
        "left" => "M10.5 3v10L5 8z",
        "right" => "M5.5 3v10L11 8z",
        "down" => "M3 5.5h10L8 11z",
        "plus" => "M7 3h2v4h4v2H9v4H7V9H3V7h4z",
        "minus" => "M3 7h10v2H3z",
        "undo" => "M6 2v3.2h3.2a4.3 4.3 0 0 1 0 8.6H5v-2h4.2a2.3 2.3 0 0 0 0-4.6H6v3.2L1.5 6.2z",
        "sliders" => "M1 4h6v1.6H1zM11 4h4v1.6h-4zM8 2.5h2v4.6H8zM1 10.4h2V12H1zM7 10.4h8V12H7zM4 9h2v4.5H4z",
        _ => "",
    };
    html! { <svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d={path}/></svg> }
}

/// The product's sign: two records on disk, the mark, one in the page cache.
pub fn brand() -> Html {
    html! {
        <svg viewBox="0 0 24 24" aria-hidden="true">
            <rect x="2" y="4" width="5" height="16" rx="1.2" fill="var(--disk)"/>
            <rect x="8.5" y="4" width="5" height="16" rx="1.2" fill="var(--disk)"/>
            <rect x="17.6" y="4.6" width="4.2" height="14.8" rx="1" fill="none" stroke="var(--cache)" stroke-width="1.3" stroke-dasharray="2.4 1.8"/>
            <path d="M15.5 1v22" stroke="var(--ink)" stroke-width="1.8"/>
        </svg>
    }
}
