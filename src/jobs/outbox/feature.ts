import { editRateLimit } from '../../slack/rate-limits.ts';
import type { RateLimitUsage } from '../../store/rate-limit.ts';
import type { Feature } from '../feature.ts';
import { waitingText } from '../wording-view.ts';

export const outboxFeature: Feature = {
  async limits({ teamId }, { rateLimiter, timing }) {
    const edits = editRateLimit(teamId, timing);
    const usage = await rateLimiter.usage(edits);
    const use = usage === undefined ? '' : `, ${usageText(usage)}`;
    // Edits always wait for seconds.
    return [{ text: `edits in Slack: up to ${edits.count} a minute${use}` }];
  },
};

const usageText = ({ free, waiting }: RateLimitUsage) =>
  `${free === 0 ? 'all in use' : `${free} free`} right now, ${waitingText(waiting)}`;
