import { findNearestName } from '../../did-you-mean.ts'
import { invalid } from '../../errors.ts'
import type { ChatModel } from '../../models/chat-model.ts'
import { type ModelSpec, parseModelSpec } from '../../models/model-spec.ts'
import { type Agent, noneAgent } from '../agent.ts'
import type { CommandProfile } from './command/command-agent.ts'
import type { UsedMemory } from './tool-loop-agent.ts'

export type AgentParts = {
  readonly reference: () => Agent | Promise<Agent>
  readonly openModel: (wanted: ModelSpec) => ChatModel | Promise<ChatModel>
  readonly openMemory: (directory: string) => UsedMemory | Promise<UsedMemory>
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Names of additional environment variables for an agent that is a program. */
  readonly passThrough?: readonly string[]
  readonly workingDirectory: string
}

/** The values of `--agent`, and the syntax of each. */
export const agentForms = {
  reference: 'reference',
  none: 'none',
  command: "'command:<program> <words with {prompt}, {file}, {session}, {workspace}>'",
  openai: 'openai:<model>[@<url>]',
  anthropic: 'anthropic:<model>[@<url>]',
  openclaw: 'openclaw[:<model>]',
  'claude-code': 'claude-code[:<model>]',
} as const

const programs = ['command', 'openclaw', 'claude-code']

/** Opens the agent that a spec such as `openai:gpt-5@http://127.0.0.1:8080/v1` names. */
export async function openAgent(spec: string, parts: AgentParts): Promise<Agent> {
  const [, name = '', rest = ''] = /^([^:]*)(?::(.*))?$/su.exec(spec) ?? []
  const wanted = rest.trim()
  const model = wanted === '' ? null : wanted
  requirePassedVariables(name, parts)
  switch (name) {
    case 'reference':
    case 'none':
      if (model === null) return name === 'none' ? noneAgent : parts.reference()
      throw invalid(`"${spec}" is not a valid agent.`, `Write ${agentForms[name]}.`)
    case 'openai':
    case 'anthropic': {
      const { toolLoopAgent } = await import('./tool-loop-agent.ts')
      return toolLoopAgent({ model: await parts.openModel(parseModelSpec(spec)), openMemory: parts.openMemory })
    }
    case 'command':
      return programAgent((await import('./command/profiles.ts')).anyCommand(wanted, parts), parts)
    case 'claude-code':
      return programAgent((await import('./command/profiles.ts')).claudeCode(model), parts)
    case 'openclaw':
      return programAgent((await import('./command/openclaw.ts')).openclaw(model, parts.environment), parts)
  }
  const meant = findNearestName(name, Object.keys(agentForms))
  const all = `There are ${Object.values(agentForms).join(', ')}.`
  const hint = meant === undefined ? all : `Did you mean ${agentForms[meant as keyof typeof agentForms]}? ${all}`
  throw invalid(`There is no agent "${spec}".`, hint)
}

async function programAgent(profile: CommandProfile, { environment, passThrough = [] }: AgentParts): Promise<Agent> {
  const { commandAgent } = await import('./command/command-agent.ts')
  return commandAgent({ ...profile, passThrough: [...profile.passThrough, ...passThrough] }, environment)
}

/** Rejects variables that are not set, because the agent would fail only much later. */
function requirePassedVariables(name: string, { environment, passThrough = [] }: AgentParts): void {
  const [first] = passThrough
  if (first !== undefined && Object.hasOwn(agentForms, name) && !programs.includes(name)) {
    const message = `The agent ${name} is not a program, so ${first} cannot be passed to it.`
    throw invalid(message, `Variables are passed to ${programs.join(', ')}.`)
  }
  const missing = passThrough.filter((variable) => environment[variable] === undefined)
  if (missing.length === 0) return
  throw invalid(`Not set in the environment: ${missing.join(', ')}.`, 'Set it before the command, or do not pass it.')
}
