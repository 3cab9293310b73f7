import type { Events } from './events.ts';
import type { Inside } from './inside.ts';
import type { Requests } from './requests.ts';
import type { Replies } from './response-url.ts';

/** The tools a person acts through. */
export interface PersonParts {
  inside: Inside;
  requests: Requests;
  replies: Replies;
  events: Events;
}
