/**
 * Runs in the page. Returns, for each drawn state that has to be found at once, how many lines down from its beginning
 * the words of its state and of its subject end; nothing for one that does not show them.
 */
export function linesDown() {
  return Array.from(document.querySelectorAll('.state[data-word]'), (state) => {
    const walker = document.createTreeWalker(
      state.querySelector('.slack_blocks_to_jsx--blocks') ?? state,
      NodeFilter.SHOW_TEXT,
    );
    const nodes = [];
    while (walker.nextNode()) nodes.push(walker.currentNode);
    const text = nodes.map(({ data }) => data).join('');

    const place = (offset) => {
      let rest = offset;
      for (const node of nodes) {
        if (rest <= node.data.length) return [node, rest];
        rest -= node.data.length;
      }
      return [state, 0];
    };
    const boxes = (from, to) => {
      const range = document.createRange();
      range.setStart(...place(from));
      range.setEnd(...place(to));
      return Array.from(range.getClientRects()).filter(({ width }) => width > 0);
    };

    // Letters, code and emoji of one line begin at different heights.
    const bottoms = [];
    for (const { top, bottom } of boxes(0, text.length).sort((one, other) => one.top - other.top)) {
      const last = bottoms.length - 1;
      if (last >= 0 && (top + bottom) / 2 < bottoms[last]) bottoms[last] = Math.max(bottoms[last], bottom);
      else bottoms.push(bottom);
    }
    const { name, word, subject } = state.dataset;
    const lines = [word, subject].map((words) => {
      const from = text.toLowerCase().indexOf(words.toLowerCase());
      const end = from < 0 ? undefined : boxes(from, from + words.length).at(-1);
      return end && 1 + bottoms.findIndex((bottom) => (end.top + end.bottom) / 2 < bottom);
    });
    return { name, lines: lines.includes(undefined) ? undefined : Math.max(...lines) };
  });
}
