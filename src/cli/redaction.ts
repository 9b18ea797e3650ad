/** What commands that redact share: the option, the redactor of this machine, and the report. */
import type { App } from '../app.ts'
import type { RedactionResult, Redactor } from '../redact/redactor.ts'
import type { SecretCounter } from '../redact/secret-counter.ts'
import type { OptionDefinition } from './define-command.ts'
import { say } from './language.ts'
import { formatCount, plural } from './view/table.ts'

export const REDACT_OPTION: OptionDefinition = [
  '--redact',
  'remove secrets, user names, home directories and e-mail addresses, and report how many',
  '秘密情報・ユーザー名・ホームディレクトリー・メールアドレスを取り除き、件数を示す',
]

/** For output that may be shared. Loads the rules only when they are needed. */
export async function createRedactor(environment: App['environment']): Promise<Redactor> {
  const [{ Redactor: Secrets }, { peopleOnMachine }] = await Promise.all([
    import('../redact/redactor.ts'),
    import('../redact/people.ts'),
  ])
  return new Secrets(peopleOnMachine(environment))
}

/** For a conversation that the same user continues: people and directories stay. */
export async function createSecretRedactor(): Promise<Redactor> {
  const [{ Redactor: Secrets }, { KEEP_PEOPLE }] = await Promise.all([
    import('../redact/redactor.ts'),
    import('../redact/people.ts'),
  ])
  return new Secrets(KEEP_PEOPLE)
}

/** For output that keeps secrets: says how many there are. */
export async function createSecretCounter(): Promise<SecretCounter> {
  const { SecretCounter: Counter } = await import('../redact/secret-counter.ts')
  return new Counter()
}

/** How many secrets output contains, and how to remove them. Empty if there are none. */
export function renderSecretWarning(counter: SecretCounter, to: 'file' | 'handoff' = 'file'): string {
  const found = counter.found()
  const total = found.reduce((sum, { distinct }) => sum + distinct, 0)
  if (total === 0 && !counter.isPartial) return ''
  if (total === 0)
    return say(
      'fumi: Only its first part was searched for secrets, and contains none. Before you share it, pass --redact.\n',
      'fumi: 秘密情報を調べたのは最初の部分だけで、そこには見つかりません。共有する前に --redact を付けてください。\n',
    )
  const kinds = found.map(({ kind, distinct }) => `${kind} ${formatCount(distinct)}`)
  const [english, japanese] = [
    `${counter.isPartial ? 'at least ' : ''}${plural(total, 'secret')} (${kinds.join(', ')})`,
    `${formatCount(total)} 件${counter.isPartial ? '以上' : ''}（${kinds.join('、')}）`,
  ]
  if (to === 'handoff')
    return say(
      `fumi: Contains ${english}, which the other agent sends to its model. To remove them, pass --redact.\n`,
      `fumi: 秘密情報が ${japanese}含まれ、引き継ぎ先のエージェントがモデルに送ります。取り除くには --redact を付けてください。\n`,
    )
  return say(
    `fumi: Contains ${english}. Before you share it, remove them with --redact.\n`,
    `fumi: 秘密情報が ${japanese}含まれています。共有する前に --redact で取り除いてください。\n`,
  )
}

/** Counts redactions by kind. Never shows what was redacted. */
export function renderRedactionReport({ redactions, images }: RedactionResult): string {
  const kinds = redactions.map(({ kind, distinct, count: places }) =>
    say(
      `${kind} ${formatCount(distinct)} (${plural(places, 'place')})`,
      `${kind} ${formatCount(distinct)} 種類（${formatCount(places)} か所）`,
    ),
  )
  const summary =
    kinds.length === 0
      ? say('redacted: nothing found', '取り除いたもの：なし')
      : say(`redacted: ${kinds.join(', ')}`, `取り除いたもの：${kinds.join('、')}`)
  const imagesNote =
    images > 0
      ? say(
          `; pixels of ${plural(images, 'image')} not examined`,
          `。画像 ${formatCount(images)} 件の画素は調べていません`,
        )
      : ''
  return `${summary}${imagesNote}\n`
}
