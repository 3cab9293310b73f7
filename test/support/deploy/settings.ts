import { readFileSync } from 'node:fs';

const example = readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8');

/** The names of all settings, as .env.example lists them. */
export const settingNames = [...example.matchAll(/^#?([A-Z][A-Z_]+)=/gm)].map(([, name = '']) => name);
