import type { Command } from './command/command.ts'

/**
 * A command of the command line. Its module is loaded only to run or describe the command. A name of two words is an
 * action of a group, such as `people add`.
 */
export type CommandEntry = {
  readonly name: string
  /** Other names, which the help does not list. */
  readonly aliases?: readonly string[]
  /** Options that an alias adds: `unpin` is `pin --off`. */
  readonly aliasOptions?: Readonly<Record<string, readonly string[]>>
  readonly group: string
  readonly summary: string
  /** If there is no memory, the command creates one. All others refuse a `--dir` without a memory, and change nothing. */
  readonly createsMemory?: true
  readonly load: () => Promise<Command>
}

/** A command with actions, such as `people add` and `people list`. Only its actions can have aliases. */
export type CommandGroup = Pick<CommandEntry, 'name' | 'group' | 'summary'> & {
  readonly actions: readonly Omit<CommandEntry, 'group'>[]
}

/** Every command. To add one, add a line here and a file in commands/. */
// biome-ignore format: one command or action, one line
export const commands: readonly (CommandEntry | CommandGroup)[] = [
  { name: 'init', group: 'First steps', summary: 'Create a memory, and import the conversations that are on this machine.', createsMemory: true, load: async () => (await import('./commands/connect/init.ts')).init },
  { name: 'connect', group: 'First steps', summary: 'Connect an agent to this memory, or disconnect it.', createsMemory: true, load: async () => (await import('./commands/connect/connect.ts')).connect },
  { name: 'remember', aliases: ['add'], group: 'First steps', summary: 'Store a statement.', createsMemory: true, load: async () => (await import('./commands/memory/remember.ts')).remember },
  { name: 'recall', group: 'First steps', summary: 'Show what an agent would get for a message.', load: async () => (await import('./commands/memory/recall.ts')).recall },
  { name: 'search', group: 'First steps', summary: 'Search beliefs and conversations.', load: async () => (await import('./commands/memory/search.ts')).search },
  { name: 'beliefs', aliases: ['list'], group: 'First steps', summary: 'List beliefs, or their scopes.', load: async () => (await import('./commands/memory/beliefs.ts')).beliefs },
  { name: 'correct', group: 'First steps', summary: 'Replace a belief with a newer one; the old one is never recalled again.', load: async () => (await import('./commands/memory/remember.ts')).correct },
  { name: 'review', group: 'First steps', summary: 'Decide on what was found in conversations or proposed by agents.', load: async () => (await import('./commands/memory/review.ts')).review },
  { name: 'forget', aliases: ['delete'], group: 'First steps', summary: 'Erase beliefs or turns permanently.', createsMemory: true, load: async () => (await import('./commands/memory/forget.ts')).forget },
  { name: 'status', group: 'First steps', summary: 'Show where the memory is, what it contains, and whether it is paused.', load: async () => (await import('./commands/conversation/status.ts')).status },
  { name: 'why', aliases: ['remedies'], aliasOptions: { remedies: ['--fix'] }, group: 'Look', summary: 'Explain why a belief is recalled for a message, or why it is not.', load: async () => (await import('./commands/memory/why.ts')).why },
  { name: 'show', aliases: ['get'], group: 'Look', summary: 'Show everything about one belief.', load: async () => (await import('./commands/memory/history.ts')).show },
  { name: 'conversations', aliases: ['conversations show'], group: 'Look', summary: 'List conversations, or show the turns of one.', load: async () => (await import('./commands/conversation/conversations.ts')).conversations },
  { name: 'history', group: 'Look', summary: 'Show the changes of a belief, or the latest changes.', load: async () => (await import('./commands/memory/history.ts')).history },
  { name: 'feedback', group: 'Look', summary: 'Count whether recalled beliefs and turns were useful, or list the counts.', load: async () => (await import('./commands/memory/feedback.ts')).feedback },
  { name: 'tour', group: 'Look', summary: 'Run a short guided demo in a temporary memory.', load: async () => (await import('./commands/connect/tour.ts')).tour },
  { name: 'hear', group: 'Change', summary: 'Store a message word for word, and learn from it.', createsMemory: true, load: async () => (await import('./commands/conversation/hear.ts')).hear },
  { name: 'pin', aliases: ['unpin'], aliasOptions: { unpin: ['--off'] }, group: 'Change', summary: 'Recall a belief for every message in its scope.', load: async () => (await import('./commands/memory/edit.ts')).pin },
  { name: 'alias', group: 'Change', summary: 'List, add or remove the aliases of a belief.', load: async () => (await import('./commands/memory/edit.ts')).alias },
  { name: 'confirm', group: 'Change', summary: 'Confirm a candidate, or a belief that was inferred or came from a file.', load: async () => (await import('./commands/memory/edit.ts')).confirm },
  { name: 'resolve', group: 'Change', summary: 'Close an open question.', load: async () => (await import('./commands/memory/edit.ts')).resolve },
  { name: 'undo', group: 'Change', summary: 'Undo a change.', load: async () => (await import('./commands/memory/history.ts')).undo },
  { name: 'pause', aliases: ['resume'], aliasOptions: { resume: ['--off'] }, group: 'Change', summary: 'Stop hooks from storing messages, for a while or in a directory; `resume` ends it.', load: async () => (await import('./commands/conversation/pause.ts')).pause },
  { name: 'import', group: 'Move and maintain', summary: 'Import a file of beliefs, completely or not at all.', createsMemory: true, load: async () => (await import('./commands/memory/transfer.ts')).importCommand },
  { name: 'import chats', group: 'Move and maintain', summary: 'Import conversations of other programs, and the archives of ChatGPT and Claude.', createsMemory: true, load: async () => (await import('./commands/conversation/import-chats.ts')).importChats },
  { name: 'export', group: 'Move and maintain', summary: 'Export beliefs or turns as JSON Lines.', load: async () => (await import('./commands/memory/transfer.ts')).exportCommand },
  { name: 'mirror', group: 'Move and maintain', summary: 'Synchronise MEMORY.md and the store, or show whether they agree.', load: async () => (await import('./commands/memory/mirror.ts')).mirror },
  { name: 'sync', group: 'Move and maintain', summary: 'Exchange changes with your other machines, without a server.', createsMemory: true, load: async () => (await import('./commands/memory/sync.ts')).sync },
  { name: 'backup', group: 'Move and maintain', summary: 'Copy a memory to a new file.', load: async () => (await import('./commands/memory/backup.ts')).backup },
  { name: 'restore', group: 'Move and maintain', summary: 'Replace a memory with a backup.', createsMemory: true, load: async () => (await import('./commands/memory/backup.ts')).restore },
  { name: 'store copy', group: 'Move and maintain', summary: 'Copy a memory between SQLite and PostgreSQL.', createsMemory: true, load: async () => (await import('./commands/memory/store-copy.ts')).storeCopy },
  { name: 'doctor', group: 'Move and maintain', summary: 'Check a memory for damage; rebuild it or set it aside.', load: async () => (await import('./commands/connect/doctor.ts')).doctor },
  { name: 'vectors', group: 'Move and maintain', summary: 'Compute the vectors that search and recall use, now instead of in the background.', load: async () => (await import('./commands/conversation/vectors.ts')).vectors },
  { name: 'trust', group: 'Move and maintain', summary: 'Allow a memory that is found in a directory; list or remove such permissions.', load: async () => (await import('./commands/connect/trust.ts')).trust },
  { name: 'serve', group: 'Run for agents', summary: 'Serve the dashboard, the HTTP API and MCP on this machine.', createsMemory: true, load: async () => (await import('./commands/connect/serve.ts')).serve },
  { name: 'mcp', group: 'Run for agents', summary: 'Serve a memory to an agent over MCP on standard input and output.', createsMemory: true, load: async () => (await import('./commands/connect/mcp.ts')).mcp },
  { name: 'proxy', group: 'Run for agents', summary: 'Run a proxy that adds memory to the requests of any model client.', createsMemory: true, load: async () => (await import('./commands/connect/proxy.ts')).proxy },
  { name: 'hook', group: 'Run for agents', summary: 'Answer a hook of an agent: recall for a prompt, and store it.', createsMemory: true, load: async () => (await import('./commands/connect/hook.ts')).hook },
  { name: 'people', group: 'Serve many people', summary: 'Add, list or remove the people of a served memory.', actions: [
    { name: 'add', summary: 'Add a person to a served memory, and print a token.', createsMemory: true, load: async () => (await import('./commands/people/people.ts')).peopleAdd },
    { name: 'list', summary: 'List the people of a served memory.', load: async () => (await import('./commands/people/people.ts')).peopleList },
    { name: 'remove', summary: 'Remove a person with their tokens; keep or erase their memory.', load: async () => (await import('./commands/people/people.ts')).peopleRemove },
  ] },
  { name: 'token', group: 'Serve many people', summary: 'Create, list or revoke tokens.', actions: [
    { name: 'create', summary: 'Create a token for a person, an agent or an administrator.', createsMemory: true, load: async () => (await import('./commands/people/people.ts')).tokenCreate },
    { name: 'list', summary: 'List tokens with their ids and labels.', load: async () => (await import('./commands/people/people.ts')).tokenList },
    { name: 'revoke', summary: 'Revoke a token.', load: async () => (await import('./commands/people/people.ts')).tokenRevoke },
  ] },
  { name: 'team', group: 'Serve many people', summary: 'Create, list or remove teams, and change their members.', actions: [
    { name: 'create', summary: 'Create a team with its own memory.', createsMemory: true, load: async () => (await import('./commands/people/people.ts')).teamCreate },
    { name: 'list', summary: 'List teams and their members.', load: async () => (await import('./commands/people/people.ts')).teamList },
    { name: 'remove', summary: 'Remove a team; keep or erase its memory.', load: async () => (await import('./commands/people/people.ts')).teamRemove },
    { name: 'add-member', summary: 'Add a member to a team, or change the role of one.', load: async () => (await import('./commands/people/people.ts')).teamAddMember },
    { name: 'remove-member', summary: 'Remove a member from a team.', load: async () => (await import('./commands/people/people.ts')).teamRemoveMember },
  ] },
  { name: 'eval', group: 'Evaluate', summary: 'Compare memory systems and controls on packs of test cases.', actions: [
    { name: 'all', summary: 'Compare memory systems and controls on every pack of test cases.', load: async () => (await import('./commands/evaluate/eval-run.ts')).evalAll },
    { name: 'retrieval', summary: 'Run your own cases over your own file of beliefs.', load: async () => (await import('./commands/evaluate/eval-run.ts')).evalRetrieval },
    { name: 'session', summary: 'Run your own sessions over your own file of beliefs.', load: async () => (await import('./commands/evaluate/eval-run.ts')).evalSession },
    { name: 'serve', summary: 'Serve recall over HTTP to evaluation harnesses.', load: async () => (await import('./commands/evaluate/eval-serve.ts')).evalServe },
  ] },
  { name: 'benchmark', group: 'Evaluate', summary: 'Run packs of test cases, keep and compare the results, and gate a change.', actions: [
    { name: 'status', aliases: ['benchmark-status'], summary: 'Show the contents of the eval store, and invalid files.', load: async () => (await import('./commands/evaluate/benchmark-status.ts')).benchmarkStatus },
    { name: 'validate', aliases: ['benchmark-validate'], summary: 'Check a pack; with --controls, that it can tell a good memory from a bad one.', load: async () => (await import('./commands/evaluate/benchmark-pack.ts')).benchmarkValidate },
    { name: 'import', aliases: ['benchmark-import'], summary: 'Copy a pack into the eval store.', load: async () => (await import('./commands/evaluate/benchmark-pack.ts')).benchmarkImport },
    { name: 'run', summary: 'Run packs and store the result of every case.', load: async () => (await import('./commands/evaluate/benchmark-run.ts')).benchmarkRun },
    { name: 'score', summary: 'Score a file of rankings that any memory made elsewhere.', load: async () => (await import('./commands/evaluate/benchmark-score.ts')).benchmarkScore },
    { name: 'export', summary: 'Write the documents of a suite, or the rankings of a run, for `benchmark score`.', load: async () => (await import('./commands/evaluate/benchmark-score.ts')).benchmarkExport },
    { name: 'seal', summary: 'Seal a file or a pack for a number of runs, and record every run on it.', load: async () => (await import('./commands/evaluate/benchmark-pack.ts')).benchmarkSeal },
    { name: 'capture', summary: 'Turn a recall into a regression case.', load: async () => (await import('./commands/evaluate/benchmark-pack.ts')).benchmarkCapture },
    { name: 'snapshot', aliases: ['benchmark-baseline-snapshot'], summary: 'Accept the latest runs as a baseline.', load: async () => (await import('./commands/evaluate/benchmark-report.ts')).benchmarkSnapshot },
    { name: 'report', aliases: ['benchmark-baseline-report'], summary: 'Compare the latest runs with a baseline.', load: async () => (await import('./commands/evaluate/benchmark-report.ts')).benchmarkReport },
    { name: 'gate', aliases: ['benchmark-ci-gate'], summary: 'Decide in CI whether a change passes.', load: async () => (await import('./commands/evaluate/benchmark-report.ts')).benchmarkGate },
    { name: 'diff', summary: 'Compare two runs case by case.', load: async () => (await import('./commands/evaluate/benchmark-report.ts')).benchmarkDiff },
    { name: 'recall', summary: 'Run status, validate, snapshot, report or gate as one command, for older scripts.', load: async () => (await import('./commands/evaluate/benchmark-status.ts')).benchmarkRecall },
  ] },
  { name: 'shadow status', group: 'Evaluate', summary: 'Show statistics of the recalls that were recorded in daily use.', load: async () => (await import('./commands/evaluate/benchmark-status.ts')).shadowStatus },
  { name: 'task', group: 'Evaluate', summary: 'Run tasks for agents, and grade the evidence.', actions: [
    { name: 'list', summary: 'List the tasks for agents.', load: async () => (await import('./commands/task/task-files.ts')).taskList },
    { name: 'validate', summary: 'Check task files.', load: async () => (await import('./commands/task/task-files.ts')).taskValidate },
    { name: 'run', summary: 'Run tasks with an agent, store the evidence and grade it.', load: async () => (await import('./commands/task/task-run.ts')).taskRun },
    { name: 'regrade', summary: 'Grade the evidence of a run again, without the agent.', load: async () => (await import('./commands/task/task-report.ts')).taskRegrade },
    { name: 'report', summary: 'Show the result of a task run, or write it as a bundle.', load: async () => (await import('./commands/task/task-report.ts')).taskReport },
    { name: 'submit', summary: 'Submit a task run to an arena.', load: async () => (await import('./commands/task/task-submit.ts')).taskSubmit },
  ] },
]

/** All commands, with the actions of groups by their full names. */
export const commandTable: readonly CommandEntry[] = commands.flatMap((command) =>
  'actions' in command
    ? command.actions.map((action) => ({ ...action, name: `${command.name} ${action.name}`, group: command.group }))
    : [command],
)

/** Removed commands, and their replacements. */
export const removedCommands: Readonly<Record<string, string>> = {
  audit: 'Report the problems of a file without importing it: `credence import FILE --dry-run`.',
  learn: 'Use `credence hear`, which also stores the message; `credence hear MESSAGE --dry-run` changes nothing.',
  proposals: 'Use `credence review`, and `credence review accept|reject ID`.',
  'eval embed': 'Vectors are computed in the run: `credence eval all`.',
  'eval check': 'Check one pack after the other: `credence benchmark validate PACK --controls`.',
  'benchmark merge': 'Run the whole pack on one machine: `credence benchmark run PACK --jobs 4`.',
  'benchmark html':
    'See the runs in the dashboard (`credence serve`), or write Markdown: `credence benchmark report --snapshot-id ID --format md`.',
}
