// Measured inside a page: what is wider than the window, what cannot be read, what has no name.
const seen = {wide: 0, out: [], loads: [], pale: [], unnamed: [], headings: [], long: [], white: []};
const page = document.documentElement;
seen.wide = page.scrollWidth - innerWidth;
seen.loads = performance.getEntriesByType("resource").map(entry => entry.name);

for (const element of document.querySelectorAll("body *"))
  if (!element.closest("svg, .scroll") && element.getBoundingClientRect().right > innerWidth + 1)
    seen.out.push(element.tagName + " " + element.textContent.slice(0, 20));
for (const drawing of document.querySelectorAll("svg")) {
  const frame = drawing.getBoundingClientRect();
  for (const text of drawing.querySelectorAll("text")) {
    const box = text.getBoundingClientRect();
    if (box.left < frame.left - 3 || box.right > frame.right + 3
        || box.top < frame.top - 3 || box.bottom > frame.bottom + 3)
      seen.out.push(text.textContent);
  }
}

const parts = colour => colour.match(/[\d.]+/g).map(Number);
const light = colour => {
  const [r, g, b] = parts(colour).slice(0, 3).map(value => value / 255)
    .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = element => {
  for (let at = element; at; at = at.parentElement) {
    const colour = getComputedStyle(at).backgroundColor;
    if ((parts(colour)[3] ?? 1) > 0.5) return colour;
  }
  return "rgb(255, 255, 255)";
};
const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node = words.nextNode(); node; node = words.nextNode()) {
  const element = node.parentElement, style = getComputedStyle(element);
  if (!node.textContent.trim() || element.closest("title, style, script")) continue;
  const ink = light(element.closest("svg") ? style.fill : style.color);
  const paper = light(behind(element));
  const contrast = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
  const large = parseFloat(style.fontSize) >= 24;
  if (contrast < (large ? 3 : 4.5))
    seen.pale.push(node.textContent.trim().slice(0, 30) + " " + contrast.toFixed(2));
}

for (const element of document.querySelectorAll("figure, figure svg path, body"))
  if (matchMedia("(prefers-color-scheme: dark)").matches) {
    const style = getComputedStyle(element);
    const colour = element.closest("svg") ? style.fill : style.backgroundColor;
    if (/^rgb/.test(colour) && (parts(colour)[3] ?? 1) > 0.5 && light(colour) > 0.9
        && element.getBoundingClientRect().width > 40)
      seen.white.push(element.tagName + " " + element.id + " " + colour);
  }

const name = element => element.getAttribute("aria-label") || (element
  .getAttribute("aria-labelledby") || "").split(" ").filter(Boolean)
  .map(id => document.getElementById(id)?.textContent ?? "").join(" ").trim();
for (const element of document.querySelectorAll("nav, svg, img, [tabindex], [role]:not([role=note])"))
  if (!name(element) && !element.getAttribute("alt")) seen.unnamed.push(element.outerHTML.slice(0, 60));
for (const link of document.querySelectorAll("a"))
  if (!link.textContent.trim() || !document.querySelector(link.getAttribute("href")))
    seen.unnamed.push(link.outerHTML);
for (const table of document.querySelectorAll("table"))
  if (!table.caption?.textContent.trim() || table.querySelector("th:not([scope])"))
    seen.unnamed.push("table " + table.id);
for (const box of document.querySelectorAll(".scroll, pre"))
  if (box.scrollWidth > box.clientWidth + 1 && box.tabIndex < 0) seen.unnamed.push("no key " + box.id);
if (!page.lang || !document.title) seen.unnamed.push("page");

let level = 0;
for (const heading of document.querySelectorAll("h1, h2, h3, h4")) {
  const own = Number(heading.tagName[1]);
  if (own > level + 1 || (own === 1 && level)) seen.headings.push(heading.textContent);
  level = own;
}

for (const element of document.querySelectorAll("p, li, dd, figcaption, blockquote")) {
  const lines = element.getBoundingClientRect().height / parseFloat(getComputedStyle(element).lineHeight);
  if (lines >= 2.5 && element.textContent.length / lines > 100)
    seen.long.push(element.textContent.trim().slice(0, 40));
}
parent.postMessage(JSON.stringify(seen), "*");
