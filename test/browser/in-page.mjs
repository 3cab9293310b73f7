/**
 * Runs in the page. Returns the least contrast of the words in an element with what is behind them, from 1 to 21
 * (https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio); nothing where there are no words, or no
 * element any more.
 */
export function contrastOf(element) {
  if (!element.isConnected) return undefined;
  const pixel = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const painted = (colours) => {
    for (const colour of colours) {
      pixel.fillStyle = colour;
      pixel.fillRect(0, 0, 1, 1);
    }
    return [...pixel.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };

  const ratios = [];
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    if (walker.currentNode.data.trim() === '') continue;
    const behind = [];
    for (let at = walker.currentNode.parentElement; at; at = at.parentElement) {
      const { backgroundColor, filter } = getComputedStyle(at);
      if (filter !== 'none') throw new Error(`The contrast under filter: ${filter} is not known.`);
      behind.unshift(backgroundColor);
    }
    const { color } = getComputedStyle(walker.currentNode.parentElement);
    const [one, other] = [painted(['white', ...behind]), painted([color])].map(luminance);
    ratios.push((Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05));
  }
  return ratios.length > 0 ? Math.min(...ratios) : undefined;
}

/** Runs in the page. Returns what buttons that look the same have in common: their classes, or else their place. */
export function kindOf(button) {
  const place = button.parentElement?.closest('[class]')?.className;
  return (
    button.className.trim() || `${button.getAttribute('role') ?? button.tagName.toLowerCase()} in ${place}`
  );
}

/** Runs in the page. Returns on how many lines the words of an element stand. */
export function linesIn(element) {
  const range = document.createRange();
  range.selectNodeContents(element);
  return new Set(Array.from(range.getClientRects(), ({ top }) => Math.round(top))).size;
}

/** Runs in the page. Returns whether one has to scroll sideways. */
export function widerThanScreen() {
  return document.documentElement.scrollWidth > innerWidth;
}
