import { z } from 'zod'

/** The formats of other programs, restated from their documentation. */

const version = z.string().regex(/^\d+\.\d+\.\d+$/)
const commandHook = z.strictObject({
  type: z.literal('command'),
  command: z.string().min(1),
  timeout: z.number().positive().optional(),
  async: z.boolean().optional(),
})

/** https://code.claude.com/docs/en/plugins-reference, "Plugin manifest schema". */
export const claudePlugin = z.strictObject({
  name: z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/),
  version,
  description: z.string(),
  author: z.strictObject({ name: z.string(), email: z.string().optional(), url: z.string().optional() }),
  license: z.string(),
  keywords: z.array(z.string()),
})

/** https://code.claude.com/docs/en/plugin-marketplaces, "Marketplace schema". */
export const claudeMarketplace = z.strictObject({
  name: z.string().regex(/^[a-z0-9-]+$/),
  description: z.string(),
  owner: z.strictObject({ name: z.string(), email: z.string().optional() }),
  plugins: z.array(
    z.strictObject({ name: z.string(), source: z.string().startsWith('./'), description: z.string(), version }),
  ),
})

const events = ['SessionStart', 'UserPromptSubmit', 'Stop', 'PreCompact', 'SessionEnd'] as const
const matcherGroups = z.array(z.strictObject({ matcher: z.string().optional(), hooks: z.array(commandHook) }))

/** https://code.claude.com/docs/en/hooks, "Configuration"; also the `hooks` of settings.json. */
export const claudeHooks = z.partialRecord(z.enum(events), matcherGroups)
export const claudePluginHooks = z.strictObject({ description: z.string().optional(), hooks: claudeHooks })

/**
 * https://www.schemastore.org/codex-hooks.json and openai/codex, codex-rs/hooks: the same matcher groups as in Claude
 * Code.
 */
export const codexHooks = z.strictObject({ hooks: z.partialRecord(z.enum(events), matcherGroups) })

/** https://cursor.com/docs/agent/hooks, "Configuration". */
export const cursorHooks = z.strictObject({
  version: z.literal(1),
  hooks: z.partialRecord(
    z.enum(['sessionStart', 'beforeSubmitPrompt', 'stop', 'preCompact']),
    z.array(z.strictObject({ command: z.string(), timeout: z.number().optional(), loop_limit: z.number().optional() })),
  ),
})

const stdioServer = z.strictObject({
  type: z.literal('stdio').optional(),
  command: z.string().min(1),
  args: z.array(z.string()),
  env: z.record(z.string(), z.string()).optional(),
})

/** `.mcp.json`, `.cursor/mcp.json` and `claude_desktop_config.json`. */
export const mcpServers = z.looseObject({ mcpServers: z.record(z.string(), stdioServer) })

/** https://code.visualstudio.com/docs/copilot/chat/mcp-servers, "Configuration format". */
export const vscodeServers = z.strictObject({
  servers: z.record(z.string(), stdioServer),
  inputs: z.array(z.unknown()).optional(),
})

/** https://agentskills.io/specification: the front matter of a SKILL.md. */
export const skillFrontMatter = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/)
    .max(64),
  description: z.string().min(1).max(1_024),
})

/** openclaw/openclaw, docs/plugins/manifest.md and its child pages: the fields that our plugin uses. */
export const openclawManifest = z.strictObject({
  id: z.string().regex(/^[a-z0-9-]+$/),
  name: z.string(),
  description: z.string(),
  version,
  kind: z.enum(['memory', 'context-engine']),
  activation: z.strictObject({ onStartup: z.boolean() }),
  contracts: z.strictObject({ tools: z.array(z.string()) }),
  cliCommands: z.array(z.strictObject({ name: z.string(), description: z.string(), hasSubcommands: z.boolean() })),
  toolMetadata: z.record(
    z.string(),
    z.strictObject({ replaySafe: z.boolean().optional(), sideEffecting: z.boolean().optional() }),
  ),
  uiHints: z.record(z.string(), z.strictObject({ label: z.string(), help: z.string() })),
  configSchema: z.strictObject({
    type: z.literal('object'),
    additionalProperties: z.literal(false),
    properties: z.record(z.string(), z.looseObject({ type: z.string() })),
  }),
})

/** openclaw/openclaw, docs/plugins/manifest/package-json.md: `package.json#openclaw`. */
export const openclawPackage = z.looseObject({
  name: z.string(),
  version,
  type: z.literal('module'),
  openclaw: z.strictObject({
    extensions: z.array(z.string().startsWith('./')).min(1),
    compat: z.strictObject({ pluginApi: z.string().regex(/^>=\d{4}\.\d+\.\d+/) }),
  }),
})

/** openclaw/openclaw, extensions/memory-core/src/tools.ts and tools.shared.ts: the answers of its own memory tools. */
export const openclawSearchResult = z.union([
  z.looseObject({
    results: z.array(
      z.looseObject({
        path: z.string(),
        startLine: z.int().min(1),
        endLine: z.int().min(1),
        score: z.number().min(0).max(1),
        snippet: z.string(),
        source: z.enum(['memory', 'sessions']),
        citation: z.string().regex(/^Source: \S+#L\d+/),
      }),
    ),
    disabled: z.undefined().optional(),
  }),
  z.strictObject({
    results: z.tuple([]),
    disabled: z.literal(true),
    unavailable: z.literal(true),
    error: z.string(),
    warning: z.string(),
    action: z.string(),
  }),
])
export const openclawGetResult = z.strictObject({
  text: z.string(),
  path: z.string(),
  from: z.int().optional(),
  lines: z.int().optional(),
})

/** https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json. */
export const registryServer = z.strictObject({
  $schema: z.literal('https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'),
  name: z
    .string()
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/)
    .max(200),
  title: z.string().max(100),
  description: z.string().min(1).max(100),
  version,
  websiteUrl: z.url(),
  repository: z.strictObject({ url: z.url(), source: z.literal('github') }),
  packages: z.array(
    z.strictObject({
      registryType: z.literal('npm'),
      identifier: z.string(),
      version,
      transport: z.strictObject({ type: z.literal('stdio') }),
      packageArguments: z.array(z.strictObject({ type: z.literal('positional'), value: z.string() })),
      environmentVariables: z.array(
        z.strictObject({
          name: z.string(),
          description: z.string(),
          isRequired: z.boolean(),
          format: z.enum(['string', 'number', 'boolean', 'filepath']),
        }),
      ),
    }),
  ),
})
