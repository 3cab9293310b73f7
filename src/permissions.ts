interface PermissionRow {
  /** Who has it if the settings do not name it. Missing: nobody. */
  usual?: 'everyone';
  /** The permission whose list counts if its own is empty. */
  like?: 'agent' | 'admin';
  /** What people without it read, after "You can't". */
  cant: string;
}

/** What people may do, if the settings allow it. A new permission is a row here, and in `docs/settings.md`. */
const PERMISSIONS = {
  export: { usual: 'everyone', cant: 'start exports here, so nothing was started' },
  agent: { usual: 'everyone', cant: 'ask the docs agent here, so nothing was sent' },
  digest: {
    usual: 'everyone',
    cant: 'set up digests here, ask for them or see the numbers of a page, so nothing was done',
  },
  site: { like: 'agent', cant: 'build previews or update sites here, so nothing was started' },
  deploy: { like: 'admin', cant: 'deploy here, so nothing was sent' },
  admin: { cant: 'see this' },
} satisfies Record<string, PermissionRow>;

type ListedPermission = keyof typeof PERMISSIONS;

/** Permissions of a person. `status` has no list: it is for full members and people with another permission. */
export type Permission = ListedPermission | 'status';

/** Who has a permission: `everyone` (all full members, also of the Grid), user ids (`U…`, `W…`), group ids (`S…`). */
export type Allow = Record<ListedPermission, readonly string[]>;

/** Returns an object with the value of each permission that the settings can list. */
export const mapPermissions = <T>(derive: (row: PermissionRow, name: ListedPermission) => T) =>
  Object.fromEntries(
    Object.entries(PERMISSIONS).map(([name, row]) => [name, derive(row, name as ListedPermission)]),
  ) as Record<ListedPermission, T>;

/** What people without a permission read, after "You can't". */
export const cantText: Record<Permission, string> = {
  ...mapPermissions(({ cant }) => cant),
  status: PERMISSIONS.admin.cant,
};
