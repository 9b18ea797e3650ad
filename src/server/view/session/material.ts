/** A session as an export needs it: read once for what later records say of earlier ones, then again while it is written. */
import type { Entry, House } from '../../../app.ts'
import type { Material } from '../../../convert/export/material.ts'
import { Outliner } from '../../../convert/export/outline.ts'
import { type People, peopleHere } from '../../../convert/redact/people.ts'
import { Redactor } from '../../../convert/redact/redact.ts'
import { breathing } from '../../../lib/disk/breathing.ts'
import { AppError } from '../../../model/error.ts'
import type { NormalizedMessage } from '../../../model/normalized.ts'
import { backlinksOf } from '../../../model/turn.ts'
import { markItem } from './session-item.ts'

export async function materialOf(house: House, { id, agent, path }: Entry, redact: boolean): Promise<Material> {
  const log = await house.logOf(id)
  const session = house.index.header(id)
  if (!log || !session)
    throw new AppError(
      'not_found',
      `the log of ${id} is gone: ${path}, and no copy was kept.`,
      `会話 ${id} のログ ${path} がなくなっています。控えもありません。`,
    )
  const { agent: reader, source } = log
  const whole: NormalizedMessage[] = []
  async function* all(): AsyncGenerator<NormalizedMessage> {
    for await (const batch of breathing(reader.read(source)))
      for (const one of batch) if (one.kind === 'message' && one.message.raw.session_id === id) yield one.message
  }
  const outliner = new Outliner()
  async function* seen(): AsyncGenerator<NormalizedMessage> {
    for await (const message of all()) {
      if (message.raw.line_index === 0) whole.push(message)
      outliner.see(message)
      yield message
    }
  }
  const links = await backlinksOf(seen())
  /** What belongs to the whole comes first. */
  async function* inOrder(): AsyncGenerator<NormalizedMessage> {
    yield* whole
    for await (const message of all()) if (message.raw.line_index > 0) yield message
  }
  const mark = house.marks.get(id)
  const material: Material = {
    session,
    agent,
    ...(mark && { mark: markItem(mark) }),
    outline: outliner.outline(links),
    messages: inOrder(),
  }
  return redact ? redacted(material, inOrder, peopleHere(house.environment)) : material
}

/** Marks are the user's own words and may name anybody: they stay at home. */
async function redacted(
  { mark: _, ...material }: Material,
  read: () => AsyncGenerator<NormalizedMessage>,
  people: People,
): Promise<Material> {
  const redactor = new Redactor(people)
  const session = await redactor.session(material.session)
  await redactor.learn(read())
  return { ...material, session, messages: redactor.messages(read()) }
}
