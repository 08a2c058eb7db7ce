// Writes docs/cli.md and docs/config.md from what the program itself knows. `--check` writes nothing and fails when
// one of them is stale.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Command, exitCodeMeanings } from '../src/cli/command/command.ts'
import { exitCodesOf, optionsOf, usageOf } from '../src/cli/command/help.ts'
import { type CommandEntry, commandTable } from '../src/cli/command-table.ts'
import { environmentName, settingNames, settingsSchema } from '../src/config.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const pages = { 'docs/cli.md': await commandLinePage(), 'docs/config.md': settingsPage() }

if (process.argv.includes('--check')) {
  const stale = Object.entries(pages).filter(([file, text]) => readIfThere(join(root, file)) !== text)
  for (const [file] of stale) console.error(`${file} is stale; run \`npm run docs\`.`)
  process.exitCode = stale.length === 0 ? 0 : 1
} else {
  for (const [file, text] of Object.entries(pages)) writeFileSync(join(root, file), text)
}

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

async function commandLinePage(): Promise<string> {
  const sections: string[] = []
  for (const entry of commandTable) sections.push(commandSection(entry, await entry.load()))
  return `# The command line

<!-- Made by \`npm run docs\` from the commands themselves; edit those. -->

\`credence <command> --help\` shows the same in a terminal.

- The **memory directory** is \`--dir\`, else \`CREDENCE_DIR\`, else \`./memory\` where there is one (it holds \`state/\` or
  \`MEMORY.md\`), else \`credence\` in \`XDG_DATA_HOME\` (\`~/.local/share\`). Looking makes no files; remembering does.
- The **scopes** in view without \`--scope\` are the project of the working directory and \`user:universal\`. A project is
  a git repository, known by the directory that all its worktrees share, never by a folder's name alone. Something new
  is written to the project, or to \`user:universal\` outside of one.
- A repository whose directory was **renamed or moved** is another project. While it has no beliefs, \`status\`, \`remember\`,
  \`recall\` and the hook at the start of a session say if the memory knows a project with the same remote, name or git directory whose path is gone;
  \`credence init --attach <scope>\` writes a \`.credence.json\` that makes the repository use that project's beliefs.
- A **belief** is given by its id, the beginning of its id, its name or an alias.
- \`-\` stands for standard input where a text is expected; everything after \`--\` is text, even if it begins with a dash.
- Answers go to standard output, everything else to standard error. With \`--json\` standard output is exactly one JSON
  document; when the command fails it is \`{"ok": false, "error": {"code", "message", "hint"}}\`.
- Colours are for terminals only; \`NO_COLOR\`, \`FORCE_COLOR\`, \`TERM=dumb\` and \`CI\` are honoured.

| exit code | meaning |
|---|---|
${rows(Object.entries(exitCodeMeanings))}

| command | what it does |
|---|---|
${rows(commandTable.map(({ name, summary }) => [`[\`${name}\`](#credence-${name.replaceAll(' ', '-')})`, summary]))}

${sections.join('\n')}`
}

function commandSection({ name, summary }: CommandEntry, command: Command): string {
  const args = Object.entries(command.args).map(([arg, { help }]) => [`\`${arg}\``, help] as const)
  const options = optionsOf(command).map(({ usage, help }) => [`\`${usage}\``, help] as const)
  const examples = Object.entries(command.examples).map(([line, effect]) => `# ${effect}\n${line}`)
  return [
    `## credence ${name}`,
    '',
    command.description === undefined ? summary : `${summary} ${command.description}`,
    '',
    '```',
    usageOf(name, command),
    '```',
    '',
    ...(args.length === 0 ? [] : ['| argument | meaning |', '|---|---|', rows(args), '']),
    '| option | meaning |',
    '|---|---|',
    rows(options),
    '',
    '```sh',
    examples.join('\n\n'),
    '```',
    '',
    exitCodesOf(command),
    '',
  ].join('\n')
}

function settingsPage(): string {
  const settings = settingNames.map((name) => {
    const { defaultText, meaning } = settingsSchema[name]
    return [`\`${name}\``, `\`${environmentName(name)}\``, defaultText, meaning]
  })
  return `# Settings

<!-- Made by \`npm run docs\` from src/config.ts; edit that. -->

A setting is looked for in this order: the command line, the environment, \`config.json\` in the memory directory,
\`credence/config.json\` in \`XDG_CONFIG_HOME\` (\`~/.config\`), the default. A \`config.json\` is one object:

\`\`\`json
{ "user": "ada" }
\`\`\`

A name that is not a setting is an error that names the nearest one.

| setting | in the environment | default | meaning |
|---|---|---|---|
${rows(settings)}

Two more variables are read from the environment alone: \`CREDENCE_DIR\` is the memory directory, and \`CREDENCE_DEBUG=1\`
shows where an error came from.
`
}

function rows(cells: readonly (readonly string[])[]): string {
  const safe = (cell: string): string => cell.replaceAll('|', '\\|')
  return cells.map((row) => `| ${row.map(safe).join(' | ')} |`).join('\n')
}
