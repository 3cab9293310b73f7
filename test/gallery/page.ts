import { type Browser, chromium, type Page } from 'playwright-core';
import { draw, styles, type Theme } from './draw.ts';
import type { GalleryState } from './state.ts';

/** A message on a phone is so wide, in pixels. */
export const PHONE = 375;

export const launch = ({ executablePath, env }: { executablePath: string; env: Record<string, string> }) =>
  chromium.launch({ executablePath, env: { ...process.env, ...env } as Record<string, string> });

/**
 * Opens a page that shows states one below the other; `caption` is the HTML above one. Each is a form, since its radio
 * buttons would else be a group with those of others.
 */
export async function openPage(
  browser: Browser,
  states: readonly GalleryState[],
  {
    width,
    theme,
    caption = () => '',
  }: { width: number; theme: Theme; caption?: (state: GalleryState) => string },
): Promise<Page> {
  const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme: theme });
  const drawn = states.map((state) => `${caption(state)}<form class="state">${draw(state, theme)}</form>`);
  await page.setContent(`<style>${styles()}</style><body class="${theme}">${drawn.join('')}</body>`);
  return page;
}

/** Returns text as it stands in HTML. */
export const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
