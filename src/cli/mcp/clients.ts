/** The agents whose settings can name our server, and how each file is written. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { editJsonc, parseJsonc } from '../../lib/json/edit-jsonc.ts'
import { editTomlTable, hasTomlTable, tomlString } from '../../lib/toml-table.ts'
import { fieldsOf } from '../../lib/unknown-values.ts'

/** The command that starts our server. */
export interface ServerCommand {
  readonly command: string
  readonly args: readonly string[]
  readonly env: { readonly [name: string]: string }
}

export interface Place {
  readonly home: string
  readonly cwd: string
  readonly variables: { readonly [name: string]: string | undefined }
}

export interface McpClient {
  readonly id: string
  readonly label: string
  readonly userFile: (place: Place) => string
  readonly projectFile: (place: Place) => string
  /** @returns undefined if the file cannot be changed safely */
  readonly change: (text: string, server: ServerCommand | undefined) => string | undefined
  readonly isInstalled: (text: string) => boolean
  /** What the user adds by hand where the file cannot be changed. */
  readonly byHand: (server: ServerCommand) => string
}

export const SERVER_NAME = 'fumibako'

const jsonClient = (
  group: string,
  entryOf: (server: ServerCommand) => object,
): Pick<McpClient, 'change' | 'isInstalled' | 'byHand'> => ({
  change: (text, server) => editJsonc(text, [group, SERVER_NAME], server && entryOf(server)),
  isInstalled: (text) => fieldsOf(fieldsOf(parseJsonc(text))?.[group])?.[SERVER_NAME] !== undefined,
  byHand: (server) => JSON.stringify({ [group]: { [SERVER_NAME]: entryOf(server) } }, null, 2),
})

const withEnv = ({ env }: ServerCommand): object => (Object.keys(env).length > 0 ? { env } : {})
const plainEntry = (server: ServerCommand): object => ({
  command: server.command,
  args: server.args,
  ...withEnv(server),
})

const TABLE = ['mcp_servers', SERVER_NAME]

const tomlLines = ({ command, args, env }: ServerCommand): readonly string[] => [
  `command = ${tomlString(command)}`,
  `args = [${args.map(tomlString).join(', ')}]`,
  ...(Object.keys(env).length > 0
    ? [
        `env = { ${Object.entries(env)
          .map(([name, value]) => `${name} = ${tomlString(value)}`)
          .join(', ')} }`,
      ]
    : []),
]

export const MCP_CLIENTS: readonly McpClient[] = [
  {
    id: 'claude-code',
    label: 'Claude Code',
    userFile: ({ home, variables }) => join(variables['CLAUDE_CONFIG_DIR'] || home, '.claude.json'),
    projectFile: ({ cwd }) => join(cwd, '.mcp.json'),
    ...jsonClient('mcpServers', (server) => ({ type: 'stdio', ...plainEntry(server) })),
  },
  {
    id: 'codex',
    label: 'Codex',
    userFile: ({ home, variables }) => join(variables['CODEX_HOME'] || join(home, '.codex'), 'config.toml'),
    projectFile: ({ cwd }) => join(cwd, '.codex', 'config.toml'),
    change: (text, server) => editTomlTable(text, TABLE, server && tomlLines(server)),
    isInstalled: (text) => hasTomlTable(text, TABLE),
    byHand: (server) => [`[${TABLE.join('.')}]`, ...tomlLines(server)].join('\n'),
  },
  {
    id: 'kiro',
    label: 'Kiro',
    userFile: ({ home }) => join(home, '.kiro', 'settings', 'mcp.json'),
    projectFile: ({ cwd }) => join(cwd, '.kiro', 'settings', 'mcp.json'),
    ...jsonClient('mcpServers', plainEntry),
  },
  {
    id: 'amazon-q',
    label: 'Amazon Q CLI',
    userFile: ({ home }) => join(home, '.aws', 'amazonq', 'mcp.json'),
    projectFile: ({ cwd }) => join(cwd, '.amazonq', 'mcp.json'),
    ...jsonClient('mcpServers', plainEntry),
  },
  {
    id: 'gemini',
    label: 'Gemini CLI',
    userFile: ({ home, variables }) => join(variables['GEMINI_CLI_HOME'] || home, '.gemini', 'settings.json'),
    projectFile: ({ cwd }) => join(cwd, '.gemini', 'settings.json'),
    ...jsonClient('mcpServers', plainEntry),
  },
  {
    id: 'qwen',
    label: 'Qwen Code',
    userFile: ({ home }) => join(home, '.qwen', 'settings.json'),
    projectFile: ({ cwd }) => join(cwd, '.qwen', 'settings.json'),
    ...jsonClient('mcpServers', plainEntry),
  },
  {
    id: 'opencode',
    label: 'OpenCode',
    userFile: ({ home, variables }) =>
      firstExisting(join(variables['XDG_CONFIG_HOME'] || join(home, '.config'), 'opencode')),
    projectFile: ({ cwd }) => firstExisting(cwd),
    ...jsonClient('mcp', ({ command, args, env }) => ({
      type: 'local',
      command: [command, ...args],
      ...(Object.keys(env).length > 0 && { environment: env }),
      enabled: true,
    })),
  },
]

/** Labels by id. */
export const CLIENTS_WITHOUT_MCP: ReadonlyMap<string, string> = new Map([['pi', 'pi']])

/** OpenCode reads both names. */
function firstExisting(folder: string): string {
  const names = ['opencode.json', 'opencode.jsonc'].map((name) => join(folder, name))
  return names.find((path) => existsSync(path)) ?? join(folder, 'opencode.json')
}
