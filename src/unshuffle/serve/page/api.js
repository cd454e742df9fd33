// Calls the service; every answer that is not a success becomes an Error with the service's one line.
import { byId } from "./element.js";

let token = "";

/** Post to an address under /v1; `signal` gives the call up, and a file is read as "blob". */
export async function post(path, content, signal, kind) {
  return call(`/v1/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(content),
    signal,
  }, kind);
}

/** Get an address under /v1. */
export const get = (path) => call(`/v1/${path}`, {});

async function call(address, options, kind = "json") {
  let response;
  try {
    response = await send(address, options);
    if (response.status === 401) {
      token = await askForToken();
      response = await send(address, options);
    }
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The service does not answer. Is it still running?");
  }
  if (response.ok) return response[kind]();
  const { error } = await response.json().catch(() => ({}));
  throw new Error(error ?? `The service answered ${response.status}.`);
}

const send = (address, options) =>
  fetch(address, { ...options, headers: { ...options.headers, ...(token && { authorization: `Bearer ${token}` }) } });

function askForToken() {
  const dialog = byId("token-dialog");
  const field = byId("token");
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.onclose = () => resolve(field.value.trim());
  });
}

/** A function that gives up its previous call when called again. */
export function latest(work) {
  let controller;
  return async (...what) => {
    controller?.abort();
    controller = new AbortController();
    const { signal } = controller;
    try {
      return await work(signal, ...what);
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  };
}
