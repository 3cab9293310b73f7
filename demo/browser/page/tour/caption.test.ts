import { expect, test } from 'vitest';
import { besideOf } from './caption.tsx';

const BOX = { width: 320, height: 120 };
const VIEW = { width: 1440, height: 900 };
const rect = (left: number, top: number, width: number, height: number) => ({
  left,
  top,
  right: left + width,
  bottom: top + height,
});

test.each([
  ['a message of a thread', rect(900, 600, 540, 150)],
  ['a message beside a thread', rect(224, 500, 675, 150)],
  ['a message without a thread', rect(224, 100, 1216, 90)],
  ['the composer', rect(224, 790, 1216, 110)],
  ['a row at the edge', rect(960, 880, 460, 18)],
  ['what fills a pane', rect(224, 46, 675, 854)],
])('a caption never covers %s', (_, target) => {
  const { left, top } = besideOf(target, BOX, VIEW);
  const [right, bottom] = [left + BOX.width, top + BOX.height];
  expect(left >= 0 && top >= 0 && right <= VIEW.width && bottom <= VIEW.height).toBe(true);
  const isApart =
    right <= target.left || left >= target.right || bottom <= target.top || top >= target.bottom;
  expect(isApart).toBe(true);
});
