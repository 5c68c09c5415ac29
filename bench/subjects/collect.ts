/** Loaded before a program whose memory is measured: collects V8's garbage every few seconds. Needs --expose-gc. */
setInterval(() => globalThis.gc?.(), 5000).unref();
