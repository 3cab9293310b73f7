import { parse } from 'yaml';
import { z } from 'zod';

const manifestSchema = z.object({
  oauth_config: z.object({ scopes: z.object({ bot: z.array(z.string()) }) }),
});

/** Returns the scopes of the bot in the text of manifest.yml. */
export const readManifestScopes = (yaml: string): string[] =>
  manifestSchema.parse(parse(yaml)).oauth_config.scopes.bot;
