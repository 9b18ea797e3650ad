/** Opens the chat that the options describe, and runs it interactively or for one prompt. */
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { App } from '../../app.ts'
import type { McpServerEntry } from '../../chat/agent-file/agent-file.ts'
import { resolveTypedPath } from '../../chat/attachments.ts'
import { type ModelOptions, parseSchema } from '../../chat/endpoint/model-options.ts'
import {
  type ChatConfig,
  fetchModels,
  type OpenedChat,
  openChatWithConfig,
  readConversation,
  readRecording,
  resolveEndpoint,
} from '../../chat/open/open-chat.ts'
import { isInsideFolder } from '../../chat/tools/files/tool-paths.ts'
import { directoryWarning, TrustStore } from '../../chat/trust/trust-store.ts'
import { describeConfigProblem, readConfig } from '../../config/config.ts'
import { dataDirectory, thisMachine } from '../../lib/files/data-directory.ts'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { isFile } from '../../lib/files/safe-fs.ts'
import { toPrintable } from '../../lib/text.ts'
import { AppError } from '../../model/error.ts'
import type { Phrase } from '../../model/phrase.ts'
import type { ChatCommandOptions } from '../commands/chat.ts'
import { configFlags } from '../config-flags.ts'
import type { ChosenLog } from '../find-session.ts'
import { localize } from '../language.ts'
import { writeErr, writeOut, writeOutJson } from '../output.ts'

export async function runChat(
  first: string | undefined,
  rawOptions: ChatCommandOptions,
  program: string | null,
): Promise<void> {
  const { prompt, options } = splitPrompt(first, rawOptions)
  rejectConflictingOptions(options)
  const chatConfig = await readChatConfig()
  if (options.listModels) await printModels(chatConfig, options)
  else await runSession(chatConfig, prompt, options, program)
}

/** In `--resume "And now?"` the value contains a space, so it is a prompt and not an id. */
function splitPrompt(prompt: string | undefined, options: ChatCommandOptions) {
  const isPrompt = prompt === undefined && typeof options.resume === 'string' && /\s/.test(options.resume)
  if (!isPrompt) return { prompt, options }
  return { prompt: String(options.resume), options: { ...options, resume: true } as const }
}

/**
 * Reads the settings without the app, which takes longer to start. Invalid settings of agents are reported by the
 * commands that read logs.
 */
async function readChatConfig(): Promise<ChatConfig> {
  const environment = thisMachine()
  const config = readConfig(environment, { agents: [], flags: configFlags() })
  for (const problem of config.problems.filter(({ key }) => !/^agents(?:\.|$)/.test(key))) {
    if (problem.where === '--set') throw new AppError('bad_usage', describeConfigProblem(problem))
    await writeErr(`fumi: ${localize(describeConfigProblem(problem))}\n`)
  }
  return { environment, config }
}

function rejectConflictingOptions({ resume, continue: continued, pick, interactive, json }: ChatCommandOptions): void {
  if (pick !== undefined && (resume !== undefined || continued !== undefined))
    throw new AppError(
      'bad_usage',
      '--pick cannot be combined with --resume or --continue.',
      '--pick は --resume や --continue と同時に使えません。',
    )
  if (resume !== undefined && continued !== undefined)
    throw new AppError(
      'bad_usage',
      '--resume and --continue cannot be combined. --resume resumes a conversation of fumibako; --continue continues a copy of any conversation.',
      '--resume と --continue は同時に使えません。--resume は fumibako の会話を再開し、--continue は任意の会話のコピーを続けます。',
    )
  if (json && interactive)
    throw new AppError('bad_usage', '--json requires --no-interactive.', '--json には --no-interactive が必要です。')
}

async function printModels(chatConfig: ChatConfig, options: ChatCommandOptions): Promise<void> {
  const models = await fetchModels(resolveEndpoint(endpointOptions(options), chatConfig))
  if (options.json) await writeOutJson(models)
  else for (const { id } of models) await writeOut(`${toPrintable(id)}\n`)
}

const endpointOptions = ({ profile, baseUrl, model }: ChatCommandOptions) => ({
  ...(profile !== undefined && { profile }),
  ...(baseUrl !== undefined && { baseURL: baseUrl }),
  ...(model !== undefined && { model }),
})

async function runSession(
  chatConfig: ChatConfig,
  prompt: string | undefined,
  options: ChatCommandOptions,
  program: string | null,
): Promise<void> {
  const given = options.interactive ? prompt : await readFullPrompt(prompt, hasOwnText(options))
  const modelOptions = readModelOptions(options)
  const opened = await openChat(chatConfig, options, modelOptions, program)
  try {
    attachFiles(opened, options.attach ?? [])
    const fullPrompt =
      options.template === undefined
        ? given
        : (await import('../../chat/templates.ts')).applyTemplate(opened.session, options.template, given ?? '')
    if (!options.interactive) {
      const { runOneShot } = await import('./one-shot.ts')
      process.exitCode = await runOneShot(
        opened,
        { text: fullPrompt ?? '', typed: prompt ?? '' },
        { json: options.json === true, ...(modelOptions.schema && { schema: modelOptions.schema }) },
      )
    } else {
      const { runInteractive } = await import('./interactive.ts')
      await runInteractive(opened, fullPrompt)
    }
  } finally {
    await opened.close()
  }
}

/** Appends piped input to the prompt. */
async function readFullPrompt(prompt: string | undefined, mayBeEmpty: boolean): Promise<string> {
  const pieces: Buffer[] = []
  if (!process.stdin.isTTY) for await (const piece of process.stdin) pieces.push(piece as Buffer)
  const piped = Buffer.concat(pieces).toString('utf8').trim()
  const fullPrompt = [prompt ?? '', piped].filter((text) => text !== '').join('\n\n')
  if (fullPrompt === '' && !mayBeEmpty)
    throw new AppError(
      'bad_usage',
      'No prompt. Pass one as fumi chat -p "…", or pipe it in.',
      '依頼がありません。fumi chat -p "…" のように指定するか、パイプで渡してください。',
    )
  return fullPrompt
}

/** A template or an attachment is a prompt of its own. */
const hasOwnText = ({ template, attach = [] }: ChatCommandOptions): boolean =>
  template !== undefined || attach.length > 0

function readModelOptions(options: ChatCommandOptions): ModelOptions {
  const { system, temperature, reasoningEffort, maxOutput, schema, fallback } = options
  return {
    ...(system !== undefined && { system: system.startsWith('@') ? readOptionFile(system.slice(1)) : system }),
    ...(temperature !== undefined && { temperature }),
    ...(reasoningEffort !== undefined && { reasoningEffort }),
    ...(maxOutput !== undefined && { maxOutput }),
    ...(schema !== undefined && { schema: parseSchema(readOptionFile(schema), schema) }),
    ...(fallback !== undefined && { fallback: fallback.split(',').flatMap((name) => name.trim() || []) }),
  }
}

function readOptionFile(path: string): string {
  try {
    return readRegularFile(path).toString('utf8')
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('not_found', `Cannot read ${path}.`, `${path} を読めません。`)
  }
}

function attachFiles({ session }: OpenedChat, paths: readonly string[]): void {
  for (const path of paths) {
    const resolved = resolveTypedPath(path, session.setup.workspace)
    if (!isFile(resolved)) throw new AppError('not_found', `No such file: ${path}.`, `${path} にファイルはありません。`)
    session.attachments.push(resolved)
  }
}

async function openChat(
  chatConfig: ChatConfig,
  options: ChatCommandOptions,
  modelOptions: ModelOptions,
  program: string | null,
): Promise<OpenedChat> {
  const { agent, trustTools, trustAllTools = false, interactive, sandbox, maxRequests, maxTokens } = options
  const { maxSessionTokens, maxCost } = options
  const recorded = options.replay === undefined ? undefined : await findRecording(options.replay, options)
  const resume = await resumeTarget(options)
  const cwd = realpathSync(process.cwd())
  const { askTrust, canAsk } = await import('../trust-question.ts')
  const opened = await openChatWithConfig(
    {
      ...endpointOptions(options),
      cwd,
      program,
      attended: interactive,
      trustAll: trustAllTools,
      trusted: (trustTools ?? '').split(',').flatMap((name) => name.trim() || []),
      ...(sandbox !== undefined && { sandbox: sandbox ? 'on' : 'off' }),
      ...(agent !== undefined && { agent }),
      ...(maxRequests !== undefined && { maxRequests }),
      ...(maxTokens !== undefined && { maxTokens }),
      ...(maxSessionTokens !== undefined && { maxSessionTokens }),
      ...(maxCost !== undefined && { maxCost }),
      modelOptions,
      readSession: readSessionText,
      ...memoryServer(options, chatConfig),
      ...(resume !== undefined && { resume }),
      ...(recorded && { recorded }),
      ...(interactive && canAsk() && { askTrust }),
    },
    chatConfig,
  )
  trustChatDirectory(cwd, chatConfig)
  return opened
}

/**
 * Trusts the directory on the page too, so that the page may continue the chat. Very wide directories still need
 * confirmation there.
 */
function trustChatDirectory(cwd: string, { environment }: ChatConfig): void {
  const data = dataDirectory(environment)
  if (directoryWarning(cwd, { home: environment.home, data })) return
  try {
    new TrustStore(data).addDirectory(cwd)
  } catch (error) {
    // The chat works without it; the page asks once more.
    if (!(error instanceof AppError)) throw error
  }
}

async function resumeTarget(options: ChatCommandOptions): Promise<string | null | undefined> {
  if (options.pick !== undefined) {
    const words = options.pick === true ? '' : options.pick
    const [{ withApp }, { pickSession }] = await Promise.all([import('../open-app.ts'), import('./pick-session.ts')])
    return continueSession(await withApp((app) => pickSession(app, words)), options)
  }
  if (options.continue !== undefined) return continueSession(options.continue, options)
  return options.resume === true ? null : options.resume
}

/** Continues one of our sessions, or our copy of another agent's session. Creates the copy if there is none. */
async function continueSession(name: string, options: ChatCommandOptions): Promise<string> {
  return withNamedLog(name, options, async ({ environment, directory, backup: backupStore }, { log, id }) => {
    const nativeId = /^fumibako:(.+)$/.exec(id)?.[1]
    if (nativeId !== undefined && isInsideFolder(log.source.path, directory)) return nativeId
    const { findCopy } = await import('../../chat/journal/find-journal.ts')
    const existingCopy = findCopy(directory, id)
    if (existingCopy !== undefined) return existingCopy
    const { handOver } = await import('../../convert.ts')
    const cwd = realpathSync(process.cwd())
    const from = { agent: log.agent, source: log.source, session: id }
    const { session } = await handOver(from, 'fumibako', { environment, directory, keep: backupStore, cwd })
    return session.native_id
  })
}

const findRecording = (name: string, options: ChatCommandOptions): ReturnType<typeof readRecording> =>
  withNamedLog(name, options, (_, { log, id }) => readRecording({ agent: log.agent, source: log.source, session: id }))

async function withNamedLog<T>(
  name: string,
  { session }: ChatCommandOptions,
  work: (app: App, found: ChosenLog) => Promise<T>,
): Promise<T> {
  const [{ withApp }, { resolveLog }] = await Promise.all([import('../open-app.ts'), import('../find-session.ts')])
  return withApp(async (app) => work(app, await resolveLog(app, name, session === undefined ? {} : { session })))
}

const MAX_SESSION_LENGTH = 60_000

/** Prompts and answers of a session of any agent, for `@session:<id>`: the newest that fit. */
async function readSessionText(name: string): Promise<{ readonly text: string } | { readonly problem: Phrase }> {
  try {
    return await withNamedLog(name, { interactive: true }, async (_, { log, id }) => {
      const { entries } = await readConversation({ agent: log.agent, source: log.source, session: id })
      const turns = entries.flatMap(({ prompt, answer }) => [
        ...(prompt === undefined ? [] : [`User: ${prompt}`]),
        ...(answer.trim() === '' ? [] : [`Assistant: ${answer}`]),
      ])
      const text = turns.join('\n\n')
      const omitted = text.length - MAX_SESSION_LENGTH
      return {
        text: `${id}\n\n${omitted > 0 ? `… ${omitted} earlier characters\n${text.slice(-MAX_SESSION_LENGTH)}` : text}`,
      }
    })
  } catch (error) {
    if (error instanceof AppError) return { problem: error.phrase }
    throw error
  }
}

/** Only where an index exists: building one takes time that a chat should not cost. */
function memoryServer(
  { interactive, replay }: ChatCommandOptions,
  { environment, config }: ChatConfig,
): { readonly memory?: McpServerEntry } {
  const program = process.argv[1]
  const hasIndex = isFile(join(dataDirectory(environment), 'index.sqlite3'))
  if (!interactive || replay !== undefined || !config.chatMemory || program === undefined || !hasIndex) return {}
  const args = [program, 'mcp']
  return {
    memory: { type: 'stdio', command: process.execPath, args, env: new Map(), timeoutMs: 60_000, disabled: false },
  }
}
