import { parse } from 'yaml';

/** The address that manifest.yml has where an operator's own belongs. */
const PLACEHOLDER = 'https://docket.example.com';

/** Returns the manifest for an app that Slack reaches under a public https address, or without one over Socket Mode. */
export function manifestFor(yaml: string, publicUrl: string | undefined): unknown {
  const manifest = parse(publicUrl === undefined ? yaml : yaml.replaceAll(PLACEHOLDER, publicUrl));
  manifest.settings.socket_mode_enabled = publicUrl === undefined;
  return publicUrl === undefined ? withoutAddresses(manifest) : manifest;
}

/** Socket Mode has no use for addresses, and Slack would ask one that is made up. */
function withoutAddresses(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withoutAddresses);
  if (typeof part !== 'object' || part === null) return part;
  const kept = Object.entries(part).filter(([name]) => name !== 'url' && name !== 'request_url');
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutAddresses(value)]));
}

/** Returns the address of the page on which Slack creates an app from a manifest, with everything filled in. */
export const createAppUrl = (manifest: unknown): string =>
  `https://api.slack.com/apps?new_app=1&manifest_json=${encodeURIComponent(JSON.stringify(manifest))}`;

/** Returns the address, with its path and without `/slack/events`, or why Slack could not reach it. */
export function readPublicUrl(typed: string): { url: string } | { problem: string } {
  const url = URL.parse(/^[a-z]+:\/\//i.test(typed) ? typed : `https://${typed}`);
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.port === '0')
    return { problem: 'Slack needs an https address, such as https://docket.acme.com.' };
  if (
    !url.hostname.includes('.') ||
    /^(?:127\.|10\.|192\.168\.|169\.254\.|\[)|\.(?:local|internal|localhost)$/.test(url.hostname)
  )
    return {
      problem: `Slack cannot reach ${url.hostname} from outside. Give a public address, or press Enter for none.`,
    };
  if (url.search !== '' || url.hash !== '') return { problem: 'Remove the ? or # and everything after it.' };
  const path = url.pathname.replace(/\/$/, '').replace(/\/slack\/events$/, '');
  return { url: url.origin + path };
}
