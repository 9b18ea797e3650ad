/** The programs that `npm run live` installs from npm and drives, and how each is configured to use a model on this machine. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programPathOrMissing } from '../../src/lib/programs.ts'
import { nonEmptyStringOf } from '../../src/lib/unknown-values.ts'

export interface LiveProgram {
  /** Id of the agent, and the end of `FUMI_LIVE_<ID>`, which names an installed program. */
  readonly agent: string
  readonly packageName: string
  /** The newest version that runs on every supported Node. */
  readonly version: string
  readonly command: string
  /** Packages for this system that hold the program: its command is only a stub until the package's script has run. */
  readonly platformPackages?: readonly string[]
  /** Writes settings into the home directory, and returns the environment. */
  prepare(home: string, address: string): Readonly<Record<string, string>>
  /** Its store holds the tokens of every request, also of those that are not part of the conversation. */
  readonly countsEveryRequest?: true
  /** Its store does not tell how much of the output was reasoning. */
  readonly tellsNoReasoning?: true
  /** What it puts before and behind a prompt. */
  readonly frame?: RegExp
  /** Its sessions hold its vendor's texts, which do not belong into our fixtures. */
  readonly hasVendorTexts?: true
  /** It keeps its sessions in a database, and this command prints one of them. */
  exportCommand?(id: string): readonly string[]
  /** Arguments for one turn. @param resume id of the session to continue */
  turn(prompt: string, resume: string | undefined): readonly string[]
}

const SYSTEM = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`

export const PROGRAMS: readonly LiveProgram[] = [
  {
    agent: 'gemini',
    packageName: '@google/gemini-cli',
    version: 'latest',
    command: 'gemini',
    prepare(home, address) {
      mkdirSync(join(home, '.gemini'))
      const settings = {
        security: { auth: { selectedType: 'gemini-api-key' } },
        general: { enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
      }
      writeFileSync(join(home, '.gemini', 'settings.json'), JSON.stringify(settings))
      return { GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: address, GEMINI_CLI_TRUST_WORKSPACE: 'true' }
    },
    turn: (prompt, resume) => [
      ...(resume === undefined ? [] : ['--resume', resume]),
      ...['--yolo', '--model', 'gemini-2.5-pro', '-p', prompt],
    ],
  },
  {
    agent: 'qwen',
    packageName: '@qwen-code/qwen-code',
    version: '0.15.10',
    command: 'qwen',
    countsEveryRequest: true,
    prepare(home, address) {
      mkdirSync(join(home, '.qwen'))
      const settings = { general: { disableAutoUpdate: true }, privacy: { usageStatisticsEnabled: false } }
      writeFileSync(join(home, '.qwen', 'settings.json'), JSON.stringify(settings))
      return { OPENAI_BASE_URL: `${address}/v1`, OPENAI_API_KEY: 'none', OPENAI_MODEL: 'garden' }
    },
    turn: (prompt, resume) => [
      ...(resume === undefined ? [] : ['--resume', resume]),
      ...['--auth-type', 'openai', '--yolo', '-p', prompt],
    ],
  },
  {
    agent: 'pi',
    packageName: '@earendil-works/pi-coding-agent',
    version: '0.74.2',
    command: 'pi',
    tellsNoReasoning: true,
    prepare(home, address) {
      mkdirSync(join(home, '.pi', 'agent'), { recursive: true })
      const model = { id: 'garden', name: 'garden', contextWindow: 100_000, maxTokens: 4096, input: ['text'] }
      const provider = { baseUrl: `${address}/v1`, api: 'openai-completions', apiKey: 'none', models: [model] }
      writeFileSync(join(home, '.pi', 'agent', 'models.json'), JSON.stringify({ providers: { garden: provider } }))
      return { PI_OFFLINE: '1' }
    },
    turn: (prompt, resume) => [
      ...(resume === undefined ? [] : ['--session', resume]),
      ...['--provider', 'garden', '--model', 'garden', '-p', prompt],
    ],
  },
  {
    agent: 'copilot',
    packageName: '@github/copilot',
    version: '1.0.102',
    command: 'copilot',
    frame: /^<current_datetime>[^<]*<\/current_datetime>\s*|\s*<(system_reminder|reminder)>.*$/gs,
    hasVendorTexts: true,
    prepare(home, address) {
      mkdirSync(join(home, '.copilot'), { recursive: true })
      return { COPILOT_PROVIDER_BASE_URL: `${address}/v1`, COPILOT_MODEL: 'garden', COPILOT_OFFLINE: 'true' }
    },
    turn: (prompt, resume) => [
      ...(resume === undefined ? [] : [`--resume=${resume}`]),
      ...['--allow-all-tools', '--allow-all-paths', '-p', prompt],
    ],
  },
  {
    agent: 'opencode',
    packageName: 'opencode-ai',
    version: '1.18.33',
    command: 'opencode',
    platformPackages: ['', '-baseline', '-musl', '-baseline-musl'].map((variant) => `opencode-${SYSTEM}${variant}`),
    prepare(home, address) {
      mkdirSync(join(home, '.config', 'opencode'), { recursive: true })
      const limit = { context: 100_000, output: 4096 }
      const models = { garden: { name: 'garden', tool_call: true, limit } }
      const options = { baseURL: `${address}/v1`, apiKey: 'none' }
      const provider = { garden: { npm: '@ai-sdk/openai-compatible', name: 'garden', options, models } }
      const settings = { model: 'garden/garden', autoupdate: false, share: 'disabled', provider }
      writeFileSync(join(home, '.config', 'opencode', 'opencode.json'), JSON.stringify(settings))
      return { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' }
    },
    exportCommand: (id) => ['export', id],
    // Several words, because OpenCode puts an argument with spaces into quotes.
    turn: (prompt, resume) => [
      ...['run', '--model', 'garden/garden'],
      ...(resume === undefined ? [] : ['--session', resume]),
      ...['--', ...prompt.split(' ')],
    ],
  },
]

/** The path of the program, or why there is none. */
export function install(program: LiveProgram): { path: string } | { missing: string } {
  const { agent, packageName, version } = program
  const given = nonEmptyStringOf(process.env[`FUMI_LIVE_${agent.toUpperCase()}`])
  if (given !== undefined) return { path: given }
  const folder = join(tmpdir(), 'fumibako-live', `${agent}-${version}`)
  const known = installedPath(program, folder)
  if (known !== undefined) return { path: known }
  mkdirSync(folder, { recursive: true })
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel', 'error']
  const wanted = `${packageName}@${version}`
  const npm = spawnSync(programPathOrMissing('npm'), ['install', '--prefix', folder, ...flags, wanted], {
    encoding: 'utf8',
    timeout: 300_000,
  })
  if (npm.status !== 0) return { missing: `npm could not install ${wanted}: ${npm.stderr || npm.error?.message}` }
  const path = installedPath(program, folder)
  return path === undefined ? { missing: `${wanted} has no program that runs on this system` } : { path }
}

function installedPath({ command, platformPackages }: LiveProgram, folder: string): string | undefined {
  const modules = join(folder, 'node_modules')
  if (!platformPackages) return [join(modules, '.bin', command)].find(existsSync)
  const file = process.platform === 'win32' ? `${command}.exe` : command
  return platformPackages
    .map((name) => join(modules, name, 'bin', file))
    .find((path) => existsSync(path) && spawnSync(path, ['--version'], { timeout: 60_000 }).status === 0)
}
