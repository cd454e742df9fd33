// The part of the address after "#": which tab, and a text to share. Browsers never send it to a server.

/** { tab, text, split } of the address. */
export function readFragment() {
  const [tab, ...rest] = location.hash.slice(1).split("&");
  const given = new URLSearchParams(rest.join("&"));
  return { tab, text: given.get("text") ?? "", split: given.get("split") ?? "auto" };
}

/** The address of a tab with a text in it. */
export function linkTo(tab, text, split = "auto") {
  const given = new URLSearchParams({ text, ...(split !== "auto" && { split }) });
  return `${location.origin}${location.pathname}#${tab}&${given}`;
}
