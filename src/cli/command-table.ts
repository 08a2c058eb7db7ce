import type { Command } from './command.ts'

/**
 * A command that can be named. Its module is loaded only when it is run or described, so that a one-shot command pays
 * for itself alone. A name of two words is a command in a group: `eval retrieval`.
 */
export type CommandEntry = {
  readonly name: string
  /** Other names it answers to; they are in no list. */
  readonly aliases?: readonly string[]
  /** The heading it is listed under. */
  readonly group: string
  readonly summary: string
  readonly load: () => Promise<Command>
}

/** Every command. Adding one is one line here and one file in commands/. */
// biome-ignore format: one command, one line
export const commandTable: readonly CommandEntry[] = [
  { name: 'tour', group: 'Remember', summary: 'Run a short guided demo in a temporary memory.', load: async () => (await import('./commands/connect/tour.ts')).tour },
  { name: 'init', group: 'Remember', summary: 'Make a memory, or see where it is.', load: async () => (await import('./commands/connect/init.ts')).init },
  { name: 'remember', group: 'Remember', summary: 'Remember a statement; said again it is reinforced, said otherwise corrected.', load: async () => (await import('./commands/memory/remember.ts')).remember },
  { name: 'learn', group: 'Remember', summary: 'Learn what a message asks to be remembered, and standing instructions.', load: async () => (await import('./commands/conversation/learn.ts')).learn },
  { name: 'hear', group: 'Remember', summary: 'Keep what was said, word for word, and learn from it.', load: async () => (await import('./commands/conversation/hear.ts')).hear },
  { name: 'recall', group: 'Remember', summary: 'Recall what belongs in an agent\'s context for a message, and only that.', load: async () => (await import('./commands/memory/recall.ts')).recall },
  { name: 'why', group: 'Look', summary: 'Explain why a belief is recalled for a message, or why it is not.', load: async () => (await import('./commands/memory/why.ts')).why },
  { name: 'search', group: 'Look', summary: 'Look for words anywhere in a memory.', load: async () => (await import('./commands/memory/search.ts')).search },
  { name: 'beliefs', group: 'Look', summary: 'List beliefs, or the scopes they are in.', load: async () => (await import('./commands/memory/beliefs.ts')).beliefs },
  { name: 'show', group: 'Look', summary: 'Show everything about one belief.', load: async () => (await import('./commands/memory/show.ts')).show },
  { name: 'conversations', group: 'Look', summary: 'List the conversations that were kept, by day.', load: async () => (await import('./commands/conversation/conversations.ts')).conversations },
  { name: 'conversations show', group: 'Look', summary: 'Show what was said in a conversation.', load: async () => (await import('./commands/conversation/conversations-show.ts')).conversationsShow },
  { name: 'status', group: 'Look', summary: 'Show where the memory is, what it holds, and whether it is paused.', load: async () => (await import('./commands/conversation/status.ts')).status },
  { name: 'history', group: 'Look', summary: 'Show what happened to a belief, or what happened last.', load: async () => (await import('./commands/memory/history.ts')).history },
  { name: 'correct', group: 'Change', summary: 'Replace a belief by a newer one; the old one is kept and never recalled.', load: async () => (await import('./commands/memory/correct.ts')).correct },
  { name: 'alias', group: 'Change', summary: 'List, add or remove what a belief can be found by.', load: async () => (await import('./commands/memory/alias.ts')).alias },
  { name: 'confirm', group: 'Change', summary: 'Confirm a candidate, or what came in through a file or was inferred.', load: async () => (await import('./commands/memory/confirm.ts')).confirm },
  { name: 'pin', group: 'Change', summary: 'Recall a belief in its scope whatever the message says.', load: async () => (await import('./commands/memory/pin.ts')).pin },
  { name: 'resolve', group: 'Change', summary: 'Close an open question.', load: async () => (await import('./commands/memory/resolve.ts')).resolve },
  { name: 'proposals', group: 'Change', summary: 'List proposals and candidates for review; accept or reject them.', load: async () => (await import('./commands/memory/proposals.ts')).proposals },
  { name: 'forget', group: 'Change', summary: 'Remove beliefs, or what was said, for good.', load: async () => (await import('./commands/memory/forget.ts')).forget },
  { name: 'undo', group: 'Change', summary: 'Take back a change.', load: async () => (await import('./commands/memory/undo.ts')).undo },
  { name: 'import', group: 'Keep', summary: 'Take in a file of beliefs: the whole of it, or nothing.', load: async () => (await import('./commands/memory/import.ts')).importCommand },
  { name: 'import chats', group: 'Keep', summary: 'Keep the turns of a file of conversations.', load: async () => (await import('./commands/conversation/import-chats.ts')).importChats },
  { name: 'export', group: 'Keep', summary: 'Write out every belief, or every turn, as JSON Lines.', load: async () => (await import('./commands/memory/export.ts')).exportCommand },
  { name: 'doctor', group: 'Keep', summary: 'Check that a memory is sound; rebuild it, back it up, set it aside.', load: async () => (await import('./commands/connect/doctor.ts')).doctor },
  { name: 'vectors', group: 'Keep', summary: 'Work out what sentences mean, for searches by meaning.', load: async () => (await import('./commands/conversation/vectors.ts')).vectors },
  { name: 'serve', group: 'Connect', summary: 'Serve the dashboard, the HTTP API and MCP on this machine.', load: async () => (await import('./commands/connect/serve.ts')).serve },
  { name: 'mcp', group: 'Connect', summary: 'Serve a memory to an agent over MCP on standard input and output.', load: async () => (await import('./commands/connect/mcp.ts')).mcp },
  { name: 'hook', group: 'Connect', summary: 'Answer a hook of an agent: recall for a prompt, and keep it.', load: async () => (await import('./commands/connect/hook.ts')).hook },
  { name: 'connect', group: 'Connect', summary: 'Set up an agent to use this memory, or undo that.', load: async () => (await import('./commands/connect/connect.ts')).connect },
  { name: 'pause', group: 'Connect', summary: 'Stop hooks from keeping what is said, for a while or in a directory.', load: async () => (await import('./commands/conversation/pause.ts')).pause },
  { name: 'resume', group: 'Connect', summary: 'Let hooks keep what is said again.', load: async () => (await import('./commands/conversation/resume.ts')).resume },
  { name: 'mirror sync', group: 'Keep', summary: 'Bring MEMORY.md and the store in step, both ways; makes the file.', load: async () => (await import('./commands/memory/mirror-sync.ts')).mirrorSync },
  { name: 'mirror watch', group: 'Keep', summary: 'Keep MEMORY.md in step until interrupted.', load: async () => (await import('./commands/memory/mirror-watch.ts')).mirrorWatch },
  { name: 'mirror status', group: 'Keep', summary: 'Say whether MEMORY.md is in step, and what waits for you.', load: async () => (await import('./commands/memory/mirror-status.ts')).mirrorStatusCommand },
  { name: 'eval all', group: 'Measure', summary: 'Compare backends and controls on every pack.', load: async () => (await import('./commands/evaluate/eval-all.ts')).evalAll },
  { name: 'eval retrieval', group: 'Measure', summary: 'Run a file of cases over a corpus.', load: async () => (await import('./commands/evaluate/eval-retrieval.ts')).evalRetrieval },
  { name: 'eval session', group: 'Measure', summary: 'Run a file of sessions over a corpus.', load: async () => (await import('./commands/evaluate/eval-session.ts')).evalSession },
  { name: 'eval check', group: 'Measure', summary: 'Check that the packs are fit to judge by.', load: async () => (await import('./commands/evaluate/eval-check.ts')).evalCheck },
  { name: 'eval embed', group: 'Measure', summary: 'Make the vectors that are kept beside the packs.', load: async () => (await import('./commands/evaluate/eval-embed.ts')).evalEmbed },
  { name: 'eval serve', group: 'Measure', summary: 'Offer recall over HTTP to harnesses that measure memories.', load: async () => (await import('./commands/evaluate/eval-serve.ts')).evalServe },
  { name: 'benchmark status', aliases: ['benchmark-status'], group: 'Keep score', summary: 'Show what is in the eval store, and what of it is invalid.', load: async () => (await import('./commands/evaluate/benchmark-status.ts')).benchmarkStatus },
  { name: 'benchmark validate', aliases: ['benchmark-validate'], group: 'Keep score', summary: 'Check a pack.', load: async () => (await import('./commands/evaluate/benchmark-validate.ts')).benchmarkValidate },
  { name: 'benchmark import', aliases: ['benchmark-import'], group: 'Keep score', summary: 'Copy a pack into the eval store.', load: async () => (await import('./commands/evaluate/benchmark-import.ts')).benchmarkImport },
  { name: 'benchmark run', group: 'Keep score', summary: 'Run packs and keep what came of every case.', load: async () => (await import('./commands/evaluate/benchmark-run.ts')).benchmarkRun },
  { name: 'benchmark merge', group: 'Keep score', summary: 'Join the shards of a run that several machines made.', load: async () => (await import('./commands/evaluate/benchmark-merge.ts')).benchmarkMerge },
  { name: 'benchmark capture', group: 'Keep score', summary: 'Turn a recall into a case that can never break unnoticed.', load: async () => (await import('./commands/evaluate/benchmark-capture.ts')).benchmarkCapture },
  { name: 'benchmark snapshot', aliases: ['benchmark-baseline-snapshot'], group: 'Keep score', summary: 'Accept the latest runs as a baseline.', load: async () => (await import('./commands/evaluate/benchmark-snapshot.ts')).benchmarkSnapshot },
  { name: 'benchmark report', aliases: ['benchmark-baseline-report'], group: 'Keep score', summary: 'Compare the latest runs with a baseline.', load: async () => (await import('./commands/evaluate/benchmark-report.ts')).benchmarkReport },
  { name: 'benchmark gate', aliases: ['benchmark-ci-gate'], group: 'Keep score', summary: 'Decide in CI whether a change may go in.', load: async () => (await import('./commands/evaluate/benchmark-gate.ts')).benchmarkGate },
  { name: 'benchmark diff', group: 'Keep score', summary: 'Lay two runs beside each other, case by case.', load: async () => (await import('./commands/evaluate/benchmark-diff.ts')).benchmarkDiff },
  { name: 'benchmark html', group: 'Keep score', summary: 'Write a report as one page that works offline.', load: async () => (await import('./commands/evaluate/benchmark-html.ts')).benchmarkHtml },
  { name: 'benchmark recall', group: 'Keep score', summary: 'Status, check, baseline and gate under one name.', load: async () => (await import('./commands/evaluate/benchmark-recall.ts')).benchmarkRecall },
  { name: 'shadow status', group: 'Keep score', summary: 'Show what live recalls were like.', load: async () => (await import('./commands/evaluate/shadow-status.ts')).shadowStatus },
  { name: 'shadow replay', group: 'Keep score', summary: 'Ask another system what was asked before, and compare.', load: async () => (await import('./commands/evaluate/shadow-replay.ts')).shadowReplay },
  { name: 'task list', group: 'Put to work', summary: 'List the tasks that an agent can be given.', load: async () => (await import('./commands/task/task-list.ts')).taskList },
  { name: 'task validate', group: 'Put to work', summary: 'Check task files.', load: async () => (await import('./commands/task/task-validate.ts')).taskValidate },
  { name: 'task run', group: 'Put to work', summary: 'Have an agent carry out tasks, keep the evidence and grade it.', load: async () => (await import('./commands/task/task-run.ts')).taskRun },
  { name: 'task regrade', group: 'Put to work', summary: 'Grade the evidence of a run again, without the agent.', load: async () => (await import('./commands/task/task-regrade.ts')).taskRegrade },
  { name: 'task report', group: 'Put to work', summary: 'Show what a run of tasks came to, or write it as a bundle.', load: async () => (await import('./commands/task/task-report.ts')).taskReport },
  { name: 'task submit', group: 'Put to work', summary: 'Hand in a run of tasks at an arena.', load: async () => (await import('./commands/task/task-submit.ts')).taskSubmit },
]
