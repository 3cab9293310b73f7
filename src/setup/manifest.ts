import { parse } from 'yaml';

/** The address in manifest.yml that an operator replaces. */
const PLACEHOLDER = 'https://docket.example.com';

/**
 * Returns the address of Slack's page that creates the app of this manifest: for requests to a public https address, or
 * without one over Socket Mode.
 */
export function createAppUrl(yaml: string, publicUrl: string | undefined): string {
  const manifest = parse(publicUrl === undefined ? yaml : yaml.replaceAll(PLACEHOLDER, publicUrl));
  manifest.settings.socket_mode_enabled = publicUrl === undefined;
  const filled = publicUrl === undefined ? withoutAddresses(manifest) : manifest;
  return `https://api.slack.com/apps?new_app=1&manifest_json=${encodeURIComponent(JSON.stringify(filled))}`;
}

/** Socket Mode needs no addresses, and Slack would call an invented one. */
function withoutAddresses(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withoutAddresses);
  if (typeof part !== 'object' || part === null) return part;
  const kept = Object.entries(part).filter(([name]) => name !== 'url' && name !== 'request_url');
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutAddresses(value)]));
}

/** Returns a public address, without `/slack/events` at its end; undefined if it is not an https address. */
export function readPublicUrl(typed: string): string | undefined {
  const url = URL.parse(typed);
  if (url?.protocol !== 'https:') return undefined;
  return url.origin + url.pathname.replace(/\/$/, '').replace(/\/slack\/events$/, '');
}
