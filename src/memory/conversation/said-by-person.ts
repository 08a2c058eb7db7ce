/** Commands (`/compact`, but not the path `/etc/hosts`) and tagged text of programs are not the person's words. */
export const isSaidByPerson = (text: string): boolean =>
  !/^\s*\/[a-z][\w:-]*(?:\s|$)/i.test(text) && !/^\s*<[a-z][\w-]*>[\s\S]*<\/[\w-]+>\s*$/i.test(text)
