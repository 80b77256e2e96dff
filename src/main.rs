//! One binary: natively the command line, on `wasm32` the page.

/// Worlds are copied and dropped all the time.
#[cfg(not(target_arch = "wasm32"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    highwater::cli::main()
}

#[cfg(target_arch = "wasm32")]
fn main() {
    page::start();
}

#[cfg(target_arch = "wasm32")]
mod page {
    use wasm_bindgen::prelude::*;

    #[wasm_bindgen]
    extern "C" {
        /// Tells `static/boot.js`, which starts the engine again.
        #[wasm_bindgen(js_namespace = highwater)]
        fn panicked(message: &str);
    }

    /// Makes a real panic, so that a test can see what becomes of it. The page never calls it.
    #[wasm_bindgen]
    pub fn panic_on_purpose() {
        panic!("a panic on purpose");
    }

    pub fn start() {
        yew::set_custom_panic_hook(Box::new(|info| panicked(&info.to_string())));
        let root = web_sys::window().and_then(|window| window.document());
        let root = root.and_then(|document| document.get_element_by_id("app"));
        match root {
            Some(root) => drop(yew::Renderer::<highwater::ui::app::App>::with_root(root).render()),
            None => panicked("index.html has no element with the id app"),
        }
    }
}
