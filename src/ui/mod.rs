//! The page: the only room that knows the DOM, the URL, pixels and wall-clock time.
//!
//! The page's state, what each act does to it and what is shown of it are plain data and compile everywhere: the modules
//! that stand first. The components that draw it, and what they ask of the browser, exist on `wasm32` alone.
//! The page never recomputes protocol: it draws the world and animates the events of a step.

pub mod act;
pub mod design;
pub mod landing;
pub mod later;
pub mod own_text;
pub mod page;
pub mod playground;
pub mod reading;
pub mod session;
pub mod stores;
pub mod tale;
pub mod view;

#[cfg(test)]
mod tests;

#[cfg(target_arch = "wasm32")]
pub mod app;
#[cfg(target_arch = "wasm32")]
mod beliefs;
#[cfg(target_arch = "wasm32")]
mod browser;
#[cfg(target_arch = "wasm32")]
mod clients;
#[cfg(target_arch = "wasm32")]
mod coming;
#[cfg(target_arch = "wasm32")]
mod controller;
#[cfg(target_arch = "wasm32")]
mod dialogs;
#[cfg(target_arch = "wasm32")]
mod drawers;
#[cfg(target_arch = "wasm32")]
mod faults;
#[cfg(target_arch = "wasm32")]
mod files;
#[cfg(target_arch = "wasm32")]
mod icons;
#[cfg(target_arch = "wasm32")]
mod inspector;
#[cfg(target_arch = "wasm32")]
mod keys;
#[cfg(target_arch = "wasm32")]
mod knobs;
#[cfg(target_arch = "wasm32")]
mod lessons;
#[cfg(target_arch = "wasm32")]
mod line;
#[cfg(target_arch = "wasm32")]
mod links;
#[cfg(target_arch = "wasm32")]
mod notice;
#[cfg(target_arch = "wasm32")]
mod overview;
#[cfg(target_arch = "wasm32")]
mod panel;
#[cfg(target_arch = "wasm32")]
mod pop;
#[cfg(target_arch = "wasm32")]
mod scene;
#[cfg(target_arch = "wasm32")]
mod start;
#[cfg(target_arch = "wasm32")]
mod terms;
#[cfg(target_arch = "wasm32")]
mod told;
#[cfg(target_arch = "wasm32")]
mod transport;
