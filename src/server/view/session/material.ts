/** A session as an export needs it: read once for what later records say of earlier ones, then again while it is written. */
import type { App, SessionEntry } from '../../../app.ts'
import type { ExportInput } from '../../../convert/export/material.ts'
import { OutlineCollector } from '../../../convert/export/outline.ts'
import { type People, peopleOnMachine } from '../../../convert/redact/people.ts'
import { Redactor } from '../../../convert/redact/redact.ts'
import { withYields } from '../../../lib/disk/breathing.ts'
import { AppError } from '../../../model/error.ts'
import type { NormalizedMessage } from '../../../model/normalized.ts'
import { collectBacklinks } from '../../../model/turn.ts'
import { toMarkItem } from './session-item.ts'

export async function readExportMaterial(
  app: App,
  { id, agent, path }: SessionEntry,
  redact: boolean,
): Promise<ExportInput> {
  const log = await app.logOf(id)
  const session = app.index.header(id)
  if (!log || !session)
    throw new AppError(
      'not_found',
      `the log of ${id} is gone: ${path}, and no copy was kept.`,
      `会話 ${id} のログ ${path} がなくなっています。控えもありません。`,
    )
  const { agent: reader, source } = log
  const sessionMessages: NormalizedMessage[] = []
  async function* all(): AsyncGenerator<NormalizedMessage> {
    for await (const batch of withYields(reader.read(source)))
      for (const one of batch) if (one.kind === 'message' && one.message.raw.session_id === id) yield one.message
  }
  const outliner = new OutlineCollector()
  async function* observed(): AsyncGenerator<NormalizedMessage> {
    for await (const message of all()) {
      if (message.raw.line_index === 0) sessionMessages.push(message)
      outliner.add(message)
      yield message
    }
  }
  const links = await collectBacklinks(observed())
  /** What belongs to the whole comes first. */
  async function* inOrder(): AsyncGenerator<NormalizedMessage> {
    yield* sessionMessages
    for await (const message of all()) if (message.raw.line_index > 0) yield message
  }
  const mark = app.annotations.get(id)
  const material: ExportInput = {
    session,
    agent,
    ...(mark && { mark: toMarkItem(mark) }),
    outline: outliner.outline(links),
    messages: inOrder(),
  }
  return redact ? redactMaterial(material, inOrder, peopleOnMachine(app.environment)) : material
}

/** Marks are the user's own words and may name anybody: they stay at home. */
async function redactMaterial(
  { mark: _, ...material }: ExportInput,
  read: () => AsyncGenerator<NormalizedMessage>,
  people: People,
): Promise<ExportInput> {
  const redactor = new Redactor(people)
  const session = await redactor.session(material.session)
  await redactor.learn(read())
  return { ...material, session, messages: redactor.messages(read()) }
}
