import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const manifestSchema = z.object({
  features: z
    .object({
      app_home: z.object({ home_tab_enabled: z.boolean().default(false) }).prefault({}),
      slash_commands: z
        .array(
          z.object({
            command: z.string().startsWith('/').max(32),
            description: z.string().optional(),
            usage_hint: z.string().optional(),
            should_escape: z.boolean().default(false),
          }),
        )
        .max(50)
        .default([]),
      shortcuts: z
        .array(
          z.object({
            name: z.string().max(24),
            type: z.enum(['message', 'global']),
            callback_id: z.string().max(255),
          }),
        )
        .max(10)
        .default([]),
    })
    .prefault({}),
  oauth_config: z
    .object({ scopes: z.object({ bot: z.array(z.string()).default([]) }).prefault({}) })
    .prefault({}),
  settings: z
    .object({
      event_subscriptions: z.object({ bot_events: z.array(z.string()).max(100).default([]) }).prefault({}),
      interactivity: z.object({ is_enabled: z.boolean() }).default({ is_enabled: false }),
      socket_mode_enabled: z.boolean().default(false),
    })
    .prefault({}),
});

/** What an app manifest lets people and the bot do; as far as the stand-in needs it. */
export interface Manifest {
  commands: { command: string; description: string; usageHint: string; shouldEscape: boolean }[];
  shortcuts: { name: string; type: 'message' | 'global'; callbackId: string }[];
  scopes: string[];
  events: string[];
  interactive: boolean;
  homeTab: boolean;
  socketMode: boolean;
}

/** Takes the parts that matter here out of a manifest in Slack's own shape. */
export function manifestOf(source: unknown): Manifest {
  const { features, oauth_config, settings } = manifestSchema.parse(source);
  return {
    commands: features.slash_commands.map((command) => ({
      command: command.command,
      description: command.description ?? '',
      usageHint: command.usage_hint ?? '',
      shouldEscape: command.should_escape,
    })),
    shortcuts: features.shortcuts.map(({ name, type, callback_id }) => ({
      name,
      type,
      callbackId: callback_id,
    })),
    scopes: oauth_config.scopes.bot,
    events: settings.event_subscriptions.bot_events,
    interactive: settings.interactivity.is_enabled,
    homeTab: features.app_home.home_tab_enabled,
    socketMode: settings.socket_mode_enabled,
  };
}

/** Reads Docket's own manifest.yml, or another one. */
export function readManifest(file: string | URL = new URL('../../manifest.yml', import.meta.url)): Manifest {
  return manifestOf(parse(readFileSync(file, 'utf8')));
}
