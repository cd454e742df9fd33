// Hands things to the reader: clipboard and files.

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity",
  "stroke-linecap", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline"];

/** Offer text, or what the service wrote, as a file. */
export function save(name, type, content) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const anchor = document.createElement("a");
  anchor.href = address;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** Copy text, also where the clipboard is closed to pages without encryption. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}

/** A drawing as a file of its own: what the style sheet says is written into each element. */
export function standalone(drawing) {
  const twin = drawing.cloneNode(true);
  const from = [drawing, ...drawing.querySelectorAll("*")];
  const to = [twin, ...twin.querySelectorAll("*")];
  from.forEach((element, number) => {
    const computed = getComputedStyle(element);
    for (const style of STYLES) to[number].setAttribute(style, computed.getPropertyValue(style));
    to[number].removeAttribute("class");
    to[number].removeAttribute("tabindex");
  });
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  paper.setAttribute("width", "100%");
  paper.setAttribute("height", "100%");
  paper.setAttribute("fill", getComputedStyle(drawing.closest(".card")).backgroundColor);
  twin.prepend(paper);
  twin.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(twin)}\n`;
}
