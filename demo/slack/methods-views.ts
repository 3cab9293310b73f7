import { z } from 'zod';
import { checkView } from './block-kit/view.ts';
import { userById } from './inside.ts';
import { defineMethod, type Method } from './method.ts';
import { Refused } from './refused.ts';

const open = defineMethod({
  tier: 'T4',
  args: z.object({ trigger_id: z.string(), view: z.unknown() }),
  run({ triggers, views, workspace }, args) {
    const definition = checkView(args.view, 'modal', workspace.newId);
    const user = triggers.use(args.trigger_id);
    return { view: views.json(views.push(user, definition)) };
  },
});

const update = defineMethod({
  tier: 'T4',
  args: z.object({
    view_id: z.string().optional(),
    external_id: z.string().optional(),
    hash: z.string().optional(),
    view: z.unknown(),
  }),
  run({ views, workspace }, args) {
    if (args.view_id === undefined && args.external_id === undefined) throw new Refused('not_found');
    const view = views.find({ id: args.view_id, externalId: args.external_id });
    if (!view) throw new Refused('not_found');
    if (args.hash !== undefined && args.hash !== view.hash) throw new Refused('hash_conflict');
    views.replace(view, checkView(args.view, view.definition.type, workspace.newId));
    return { view: views.json(view) };
  },
});

const publish = defineMethod({
  tier: 'T4',
  args: z.object({ user_id: z.string(), hash: z.string().optional(), view: z.unknown() }),
  run({ views, workspace, manifest }, args) {
    const { id } = userById(workspace, args.user_id);
    if (!manifest.homeTab) throw new Refused('not_enabled');
    const definition = checkView(args.view, 'home', workspace.newId);
    const known = views.homeOf(id);
    if (args.hash !== undefined && args.hash !== known?.hash) throw new Refused('hash_conflict');
    return { view: views.json(views.publish(id, definition)) };
  },
});

export const viewMethods: Record<string, Method> = {
  'views.open': open,
  'views.update': update,
  'views.publish': publish,
};
