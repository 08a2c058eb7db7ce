// Writes the manifests of the plugin in integrations/plugin and integrations/gemini, from package.json and the tables below. All
// hosts share the skill, which teaches an agent when to search and how to interpret the strength of a hit.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const { version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

const description = 'Memory that recalls the few beliefs a message is about, and can show why.'
const author = { name: 'Credence' }
const manifest = { name: 'credence', version, description, author, license, keywords: ['memory', 'mcp', 'hooks'] }
const skill = 'skills/memory/SKILL.md'

/** The answer to a prompt is stored with the next one and at the end of the session, so that a turn starts one process. */
const claudeEvents = {
  SessionStart: 'session-start',
  UserPromptSubmit: 'prompt-submit',
  PreCompact: 'pre-compact',
  SessionEnd: 'pre-compact',
}
const geminiEvents = {
  SessionStart: 'session-start',
  BeforeAgent: 'prompt-submit',
  AfterAgent: 'stop',
  PreCompress: 'pre-compact',
}
const cursorEvents = {
  sessionStart: 'session-start',
  beforeSubmitPrompt: 'prompt-submit',
  stop: 'stop',
  preCompact: 'pre-compact',
}

/** If Credence is not on the PATH, a hook does nothing; at the start of a session it prints a hint, if the host shows it. */
function commandFor(event: string, host: string): string {
  const install = '{"systemMessage":"The Credence plugin needs Credence: npm install -g credence"}'
  const note = event === 'session-start' && host !== 'cursor' ? `{ echo '${install}'; exit 0; }` : 'exit 0'
  return `command -v credence >/dev/null 2>&1 || ${note}; credence hook ${event} --host ${host}`
}

const matcherHooks = (host: string, events: Readonly<Record<string, string>>, timeout: number) => ({
  ...(host === 'claude-code' ? { description: 'Recalls for every prompt and learns from what the person says.' } : {}),
  hooks: Object.fromEntries(
    Object.entries(events).map(([own, event]) => [
      own,
      [{ hooks: [{ type: 'command', command: commandFor(event, host), timeout: timeoutAt(own, timeout) }] }],
    ]),
  ),
})

/** Codex allows a hook at the end of a session at most 3 s. */
const timeoutAt = (own: string, timeout: number): number => (own === 'SessionEnd' ? 3 : timeout)

const serverFor = (host: string | null, more: object = {}) => ({
  mcpServers: {
    credence: { ...more, command: 'credence', args: ['mcp', ...(host === null ? [] : ['--host', host])] },
  },
})

/** Formats like this repository's formatter: a list of texts on one line. */
const formatted = (value: object): string =>
  `${JSON.stringify(value, null, 2).replace(/\[[^[\]{}]*\]/gu, (list) => list.replace(/\s*\n\s*/gu, ' ').replace(/^\[ | \]$/gu, (end) => end.trim()))}\n`

/** Files below `integrations`, by path. */
export const pluginFiles: Readonly<Record<string, string>> = Object.fromEntries([
  ...Object.entries({
    // Claude Code finds its hooks and its server by these names.
    'plugin/.claude-plugin/plugin.json': manifest,
    'plugin/hooks/hooks.json': matcherHooks('claude-code', claudeEvents, 5),
    'plugin/.mcp.json': serverFor('claude-code', { type: 'stdio' }),
    'plugin/.codex-plugin/plugin.json': {
      ...manifest,
      skills: './skills/',
      hooks: './hooks/codex.json',
      mcpServers: './servers/codex.json',
    },
    'plugin/hooks/codex.json': matcherHooks('codex', claudeEvents, 5),
    'plugin/servers/codex.json': serverFor('codex'),
    'plugin/.cursor-plugin/plugin.json': {
      ...manifest,
      skills: './skills/',
      hooks: './hooks/cursor.json',
      mcpServers: './servers/cursor.json',
    },
    'plugin/hooks/cursor.json': {
      version: 1,
      hooks: Object.fromEntries(
        Object.entries(cursorEvents).map(([own, event]) => [own, [{ command: commandFor(event, 'cursor') }]]),
      ),
    },
    'plugin/servers/cursor.json': serverFor('cursor'),
    // The format that several hosts share, including Copilot: the skill and the server, no hooks.
    'plugin/plugin.json': { ...manifest, mcpServers: './mcp.json' },
    'plugin/mcp.json': serverFor(null),
    // Gemini CLI looks for hooks under the same name as Claude Code, so it needs a separate folder.
    'gemini/gemini-extension.json': { name: 'credence', version, description, ...serverFor('gemini') },
    'gemini/hooks/hooks.json': matcherHooks('gemini', geminiEvents, 5_000),
  }).map(([path, value]) => [path, formatted(value)]),
  [`gemini/${skill}`, readFileSync(join(root, 'integrations/plugin', skill), 'utf8')],
])

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const [path, text] of Object.entries(pluginFiles)) {
    const file = join(root, 'integrations', path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
