/** What a conversation would become as another agent's, and what handing it over would do. Writes nothing. */
import type { App, SessionEntry } from '../../../app.ts'
import {
  type Conversion,
  type Cut,
  convertLog,
  formsToWrite,
  type HandedOver,
  handOver,
  type LogOptions,
  type LogToConvert,
  targetsOfHandoff,
} from '../../../convert.ts'
import type { ConvertBody, ConvertPreview, HandoffPreview } from '../../../model/api/convert.ts'
import { AppError } from '../../../model/error.ts'

export type ConvertRequest = Omit<ConvertBody, 'session'>

export async function previewConversion(
  app: App,
  entry: SessionEntry,
  wanted: ConvertRequest,
): Promise<Omit<ConvertPreview, 'ticket' | 'download_url'>> {
  let cut: Cut | undefined
  const conversion = await startConversion(app, entry, wanted, (one) => {
    cut = one
  })
  let bytes = 0
  for await (const piece of conversion.pieces) if (piece.kind === 'bytes') bytes += piece.bytes.length
  const { losses, repairs } = conversion.report()
  return {
    session: entry.id,
    to: wanted.to,
    file_name: await convertedFileName(entry, wanted.to),
    bytes,
    losses,
    repairs,
    cut: cut ? { turns_kept: cut.turns.kept, turns_summed_up: cut.turns.cut } : null,
    handoff: await previewHandoff(app, entry, wanted),
  }
}

/** The bytes of the file, as they are made. */
export async function* convertedBytes(
  app: App,
  entry: SessionEntry,
  wanted: ConvertRequest,
): AsyncGenerator<Uint8Array> {
  const { pieces } = await startConversion(app, entry, wanted)
  for await (const piece of pieces) if (piece.kind === 'bytes') yield piece.bytes
}

export async function convertedFileName({ id }: SessionEntry, to: string): Promise<string> {
  const form = (await formsToWrite()).find(({ name }) => name === to)
  return `${id.replaceAll(/[^\w.-]+/g, '_')}${form?.suffix ?? '.json'}`
}

export async function handOverSession(
  app: App,
  entry: SessionEntry,
  { to, max_tokens, cwd }: ConvertRequest,
  mode: { readonly isDry: boolean; readonly mayReplace: boolean },
): Promise<HandedOver> {
  const { environment, directory, backup } = app
  return handOver(await findLog(app, entry), to, {
    environment,
    directory,
    keep: backup,
    ...mode,
    ...(max_tokens !== undefined && { maxTokens: max_tokens }),
    ...(cwd !== undefined && { cwd }),
  })
}

async function startConversion(
  app: App,
  entry: SessionEntry,
  wanted: ConvertRequest,
  onCut?: (cut: Cut) => void,
): Promise<Conversion> {
  const { to, without_extensions, max_tokens, cwd } = wanted
  const options: LogOptions = {
    withoutExtensions: without_extensions === true,
    ...(max_tokens !== undefined && { maxTokens: max_tokens }),
    ...(cwd !== undefined && { cwd }),
    ...(onCut && { onCut }),
  }
  return convertLog(await findLog(app, entry), to, options)
}

async function previewHandoff(app: App, entry: SessionEntry, wanted: ConvertRequest): Promise<HandoffPreview | null> {
  if (!(await targetsOfHandoff()).includes(wanted.to)) return null
  try {
    const done = await handOverSession(app, entry, wanted, { isDry: true, mayReplace: true })
    const { source, exchanges, isReplacement, warnings } = done
    return { possible: true, path: source.path, exchanges, replaces: isReplacement, warnings }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { code, phrase } = error
    return { possible: false, code, reason: phrase.en, reason_ja: phrase.ja }
  }
}

async function findLog(app: App, { id, path }: SessionEntry): Promise<LogToConvert> {
  const log = await app.logOf(id)
  if (!log)
    throw new AppError(
      'not_found',
      `the log of ${id} is gone: ${path}, and no copy was kept.`,
      `会話 ${id} のログ ${path} がなくなっています。控えもありません。`,
    )
  return { agent: log.agent, source: log.source, session: id }
}
