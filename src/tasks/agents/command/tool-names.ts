/**
 * Programs name their tools as they like; graders know the names of the agent they were written for. What reads a file
 * is called `read` and has a `path`, whatever the program calls it; everything else it said stays.
 */
const known: Readonly<Record<string, string>> = {
  Read: 'read',
  NotebookRead: 'read',
  Write: 'write',
  Edit: 'edit',
  MultiEdit: 'edit',
  NotebookEdit: 'edit',
  Bash: 'exec',
  LS: 'list_files',
  Glob: 'find',
  Grep: 'grep',
}

export function asKnownTool(
  name: string,
  given: Readonly<Record<string, unknown>>,
): { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> } {
  const path = given.path ?? given.file_path ?? given.filePath ?? given.notebook_path
  return { name: known[name] ?? name, arguments: path === undefined ? given : { ...given, path } }
}
