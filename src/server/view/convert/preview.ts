/** What a conversation would become as another agent's, and what handing it over would do. Writes nothing. */
import type { Entry, House } from '../../../app.ts'
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

export type Wanted = Omit<ConvertBody, 'session'>

export async function previewOf(
  house: House,
  entry: Entry,
  wanted: Wanted,
): Promise<Omit<ConvertPreview, 'ticket' | 'download_url'>> {
  let cut: Cut | undefined
  const conversion = await start(house, entry, wanted, (one) => {
    cut = one
  })
  let bytes = 0
  for await (const piece of conversion.pieces) if (piece.kind === 'bytes') bytes += piece.bytes.length
  const { losses, repairs } = conversion.report()
  return {
    session: entry.id,
    to: wanted.to,
    file_name: await fileName(entry, wanted.to),
    bytes,
    losses,
    repairs,
    cut: cut ? { turns_kept: cut.turns.kept, turns_summed_up: cut.turns.cut } : null,
    handoff: await handoffPreview(house, entry, wanted),
  }
}

/** The bytes of the file, as they are made. */
export async function* fileOf(house: House, entry: Entry, wanted: Wanted): AsyncGenerator<Uint8Array> {
  const { pieces } = await start(house, entry, wanted)
  for await (const piece of pieces) if (piece.kind === 'bytes') yield piece.bytes
}

export async function fileName({ id }: Entry, to: string): Promise<string> {
  const form = (await formsToWrite()).find(({ name }) => name === to)
  return `${id.replaceAll(/[^\w.-]+/g, '_')}${form?.suffix ?? '.json'}`
}

export async function handedOver(
  house: House,
  entry: Entry,
  { to, max_tokens, cwd }: Wanted,
  how: { readonly isDry: boolean; readonly mayReplace: boolean },
): Promise<HandedOver> {
  const { environment, directory, keep } = house
  return handOver(await logOf(house, entry), to, {
    environment,
    directory,
    keep,
    ...how,
    ...(max_tokens !== undefined && { maxTokens: max_tokens }),
    ...(cwd !== undefined && { cwd }),
  })
}

async function start(house: House, entry: Entry, wanted: Wanted, onCut?: (cut: Cut) => void): Promise<Conversion> {
  const { to, without_extensions, max_tokens, cwd } = wanted
  const options: LogOptions = {
    withoutExtensions: without_extensions === true,
    ...(max_tokens !== undefined && { maxTokens: max_tokens }),
    ...(cwd !== undefined && { cwd }),
    ...(onCut && { onCut }),
  }
  return convertLog(await logOf(house, entry), to, options)
}

async function handoffPreview(house: House, entry: Entry, wanted: Wanted): Promise<HandoffPreview | null> {
  if (!(await targetsOfHandoff()).includes(wanted.to)) return null
  try {
    const done = await handedOver(house, entry, wanted, { isDry: true, mayReplace: true })
    const { source, exchanges, isReplacement, warnings } = done
    return { possible: true, path: source.path, exchanges, replaces: isReplacement, warnings }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { code, phrase } = error
    return { possible: false, code, reason: phrase.en, reason_ja: phrase.ja }
  }
}

async function logOf(house: House, { id, path }: Entry): Promise<LogToConvert> {
  const log = await house.logOf(id)
  if (!log)
    throw new AppError(
      'not_found',
      `the log of ${id} is gone: ${path}, and no copy was kept.`,
      `会話 ${id} のログ ${path} がなくなっています。控えもありません。`,
    )
  return { agent: log.agent, source: log.source, session: id }
}
