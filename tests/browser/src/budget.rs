//! What the page may cost a person who opens it. A change of these numbers is a decision of its own.

/// Bytes of everything for the first load, compressed as `cargo xtask serve` serves it (brotli 11), headers included.
/// This number grows only by a commit that says so.
pub const FIRST_LOAD_BYTES: u64 = 450_000;

/// Requests until the page can be used, the icon included.
pub const FIRST_LOAD_REQUESTS: u64 = 8;

/// Counts every callback that the page asks for, in `counted.callbacks`; for scripts before each document.
/// `counted.timeout` is not counted.
pub const COUNTERS: &str = "
    window.counted = { callbacks: 0, timeout: setTimeout.bind(window) };
    for (const name of ['requestAnimationFrame', 'setTimeout', 'setInterval', 'requestIdleCallback']) {
        const real = window[name].bind(window);
        window[name] = (callback, ...rest) => real((...values) => { counted.callbacks += 1; return callback(...values) }, ...rest);
    }";
