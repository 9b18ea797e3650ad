/** A project's file would have to be trusted first: who can ask the user asks with what it would do. */
import type { ChatTrust } from '../../model/api/chat.ts'
import { AppError } from '../../model/error.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'

/** Asks the user; false: not trusted. */
export type AskTrust = (question: ChatTrust) => Promise<boolean>

export class TrustNeededError extends AppError {
  readonly question: ChatTrust

  constructor(question: ChatTrust) {
    super('no_permission', untrustedText(question))
    this.name = 'TrustNeeded'
    this.question = question
  }
}

/** Why it is not used, and how to change that. */
export function untrustedText({ kind, name, path, changed }: ChatTrust): Phrase {
  const what = kind === 'agent' ? phrase(`The agent ${name}`, `エージェント ${name}`) : phrase(path, path)
  const why = changed
    ? phrase('has changed since you trusted it', 'は、信頼した後に変更されています')
    : phrase('comes from this project and is not trusted', 'はこのプロジェクトのもので、まだ信頼されていません')
  return phrase(
    `${what.en} ${why.en}. To review and trust it, run: fumi trust ${quotePath(path)}`,
    `${what.ja}${why.ja}。内容を確認して信頼するには、次を実行してください：fumi trust ${quotePath(path)}`,
  )
}

const quotePath = (path: string): string =>
  /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
