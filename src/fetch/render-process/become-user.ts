/** The user that a render process becomes, as the argument of its program that names it. */
export const userArgument = ({ uid, gid }: { readonly uid: number; readonly gid: number }): string =>
  `${uid}:${gid}`;

/**
 * Makes this process of root one of another user, for good: the user of the argument. A render process begins as root, so
 * that its program can lie in a folder that only root can enter; by now all of it is loaded, and nothing of a page has
 * come near it. Throws when a right of root is left.
 */
export function becomeUser(argument: string): void {
  const [, uid, gid] = /^([1-9]\d*):([1-9]\d*)$/.exec(argument) ?? [];
  if (uid === undefined || gid === undefined) throw new Error(`no user: ${argument}`);
  const { setgroups, setgid, setuid } = process;
  if (setgroups === undefined || setgid === undefined || setuid === undefined)
    throw new Error('this system has no users');
  setgroups([Number(gid)]);
  setgid(Number(gid));
  // This changes all three user ids of the process, and so the kernel takes the capabilities of root from it.
  setuid(Number(uid));
  if (isRootAgain(setuid)) throw new Error('the process could become root again');
}

function isRootAgain(setuid: (id: number) => void): boolean {
  try {
    setuid(0);
    return true;
  } catch {
    return false;
  }
}
