/** The programs whose hooks are understood. */
export const hookHosts = ['claude-code', 'codex', 'cursor'] as const
export type HookHost = (typeof hookHosts)[number]

/** What happened in a host; the last one is no host's: the others start it when a message waits to be heard. */
export const hookEvents = ['session-start', 'prompt-submit', 'stop', 'pre-compact', 'hear'] as const
export type HookEvent = (typeof hookEvents)[number]

/** What each host calls it. Claude Code and Codex share their names. */
const ownNames: Readonly<Record<HookEvent, readonly string[]>> = {
  'session-start': ['SessionStart', 'sessionStart'],
  'prompt-submit': ['UserPromptSubmit', 'beforeSubmitPrompt'],
  stop: ['Stop'],
  'pre-compact': ['PreCompact', 'preCompact'],
  hear: [],
}

/** An event by our name or by its host's. */
export const hookEventNamed = (name: string): HookEvent | undefined =>
  hookEvents.find((event) => event === name || ownNames[event].includes(name))

/**
 * What a host is to be told, as it wants to be told; empty for nothing. Codex refuses answers with anything more in them
 * than it knows, and takes context at two events only; Cursor takes it at one, and wants a word at another. `notice` is for
 * the person.
 */
export function hookAnswer(host: HookHost, event: HookEvent, context: string, notice = ''): string {
  const line = (answer: object): string => `${JSON.stringify(answer)}\n`
  if (host === 'cursor') {
    if (event === 'prompt-submit') return line({ continue: true, ...(notice === '' ? {} : { user_message: notice }) })
    return event === 'session-start' && context !== '' ? line({ additional_context: context }) : ''
  }
  const additionalContext = `${notice}${context}`
  if (additionalContext === '') return ''
  const [hookEventName] = ownNames[event]
  return line({ hookSpecificOutput: { hookEventName, additionalContext } })
}
