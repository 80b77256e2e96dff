// Starts the page's engine, says so when it cannot, and starts it again when it panics.
//
// Why a script beside the page: a panic ends the whole WebAssembly instance, so the page cannot report it itself.
// Only a fresh document surely ends the dead instance's timers, listeners and frame callbacks, so starting again
// means loading the document again; what has to outlive that is kept in `sessionStorage` (this tab, this site).
//
// What the page does for this (src/ui):
// 1. It keeps its position in `sessionStorage['highwater.resume']` as JSON and rewrites it after each good step; while a
//    long run plays, only once it stands still (`Page::is_written_later`):
//      { "scenario": "brokers 3\n…",   the text that leads here, as the page's own 'copy' gives it
//        "step": 41,                   the step one is at, as the page numbers it
//        "position": 44,               the page's own: the same in its history
//        "stops": [[0, 3], [1, 17]] }  the page's own: the stops of a lesson that were reached, and where
//    Of these this script reads `scenario` and `step`.
// 2. Its panic hook calls `highwater.panicked(message)`; a trap without a message is noticed all the same.
// 3. When it mounts and `highwater.crashed` is not null, it replays `crashed.resume` up to there, paused, and only
//    then writes `highwater.resume` anew. A crash before that counts as 'it crashed again while starting': this script
//    then stops instead of starting for ever, and offers to begin from the start.
//
// What this script gives the page: `window.highwater` with
//      crashed    null, or { message, resume } of the crash this document was loaded to recover from
//      bindings   the functions the engine exports, once it runs (a test uses `panic_on_purpose` to make a real panic)
//      panicked   see 2
//
// What is deliberately absent: any knowledge of scenarios, of steps, or of how the page looks.
(() => {
  'use strict';
  const KEY = 'highwater.resume';
  const byId = (id) => document.getElementById(id);

  // Storage may be forbidden; the page then runs without being able to go on after a crash.
  const read = () => {
    try {
      const kept = JSON.parse(sessionStorage.getItem(KEY));
      return kept && typeof kept === 'object' ? kept : null;
    } catch {
      return null;
    }
  };
  const write = (kept) => {
    try {
      kept ? sessionStorage.setItem(KEY, JSON.stringify(kept)) : sessionStorage.removeItem(KEY);
      return true;
    } catch {
      return false;
    }
  };

  const found = read();
  const highwater = {
    crashed: found && typeof found.crashed === 'string' ? { message: found.crashed, resume: found } : null,
    bindings: null,
    panicked: (message) => crash(String(message)),
  };
  window.highwater = highwater;

  // ---- Starting ----

  const start = async () => {
    if (highwater.crashed) showNotice(highwater.crashed, 'resumed');
    if (typeof WebAssembly !== 'object') {
      return failed('This browser does not run WebAssembly, or has it switched off. The engine is a WebAssembly program.');
    }
    try {
      // A dynamic import rather than a static one, so that a failure arrives here.
      const bindings = await import(byId('highwater-js').href);
      await bindings.default({ module_or_path: byId('highwater-wasm').href });
      highwater.bindings = bindings;
    } catch (error) {
      if (isTrap(error)) return crash(error.message);
      console.warn(error);
      failed(
        navigator.onLine === false
          ? 'This device is offline. Nothing of the page is lost: try again when it is connected.'
          : `A part of the page could not be fetched or started (${error && error.message}).`,
      );
    }
  };

  const failed = (why) => {
    byId('app').hidden = true;
    byId('failed-why').textContent = why;
    byId('failed-retry').addEventListener('click', () => location.reload());
    byId('failed').hidden = false;
    byId('failed-retry').focus();
  };

  // ---- Crashing ----

  // A panic ends in a RuntimeError ('unreachable'); a stack that overflows inside the engine ends in a RangeError.
  const isTrap = (error) =>
    error instanceof WebAssembly.RuntimeError || (error instanceof RangeError && /wasm/.test(error.stack || ''));

  let crashing = false;
  const crash = (message) => {
    if (crashing) return;
    crashing = true;
    byId('app').inert = true;
    const resume = read();
    // The mark of the earlier crash still stands: the page has not come as far as its last good step.
    const again = resume !== null && typeof resume.crashed === 'string';
    const marked = resume && { ...resume, crashed: message };
    const kept = marked !== null && write(marked);
    if (again || !kept) return showNotice({ message, resume }, 'stopped');
    // A timer of the dead instance may still fire, and write as if nothing had happened.
    window.addEventListener('pagehide', () => write(marked));
    // Not at once: the panic is still on the stack, and its hook may want to log.
    setTimeout(() => location.reload());
  };

  window.addEventListener('error', (event) => {
    if (isTrap(event.error)) crash(event.error.message);
  });
  window.addEventListener('unhandledrejection', (event) => {
    if (isTrap(event.reason)) crash(event.reason.message);
  });

  // ---- The notice ----

  const element = (name, attributes, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const button = (label, act, attributes = {}) => {
    const made = element('button', { type: 'button', ...attributes }, label);
    made.addEventListener('click', act);
    return made;
  };

  const showNotice = ({ message, resume }, outcome) => {
    const notice = byId('notice');
    const step = resume && resume.step;
    const scenario = (resume && resume.scenario) || '';
    const parts = [];
    if (outcome === 'resumed') {
      parts.push(
        element('h2', {}, 'The engine stopped, and was started again'),
        element('p', {}, `It ran into a bug. You are back at step ${step}, the last good one, and can go on.`),
      );
    } else {
      byId('app').hidden = true;
      parts.push(
        element('h2', {}, 'The engine stopped'),
        element('p', {}, 'It ran into a bug, and could not go on from the last good step.'),
      );
    }
    parts.push(element('p', {}, element('code', {}, message)));
    if (scenario) {
      const text = element('textarea', { id: 'notice-scenario', readonly: '', spellcheck: 'false' }, scenario);
      parts.push(
        element('label', { for: 'notice-scenario' }, 'The scenario that leads here, for a report:'),
        text,
        button('Copy scenario', (event) => copy(text, event.currentTarget)),
      );
    }
    if (outcome === 'resumed') {
      parts.push(button('Close', () => (notice.hidden = true)));
    } else {
      parts.push(button('Begin from the start', beginAnew, { class: 'main' }));
    }
    notice.replaceChildren(...parts);
    notice.hidden = false;
  };

  const copy = async (text, pressed) => {
    text.select();
    try {
      await navigator.clipboard.writeText(text.value);
      pressed.textContent = 'Copied';
    } catch {
      pressed.textContent = 'Selected: copy it with your keyboard';
    }
  };

  // The fragment may hold the very scenario that crashes, so it goes too.
  const beginAnew = () => {
    write(null);
    try {
      sessionStorage.removeItem('highwater.playground');
    } catch {
      // Where storage is forbidden, nothing was kept.
    }
    history.replaceState(null, '', location.pathname + location.search);
    location.reload();
  };

  start();
})();
