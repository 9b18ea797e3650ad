/** Secrets whose form gives them away, and which the rules of secretlint do not look for. */
import type { RedactionSpan } from './secrets.ts'

/** What stands before a form and makes it the end of something else. */
const WORD_CHARACTER = /[A-Za-z0-9]/
const LOWERCASE_LETTER = /[a-z]/

/** Each begins with letters: so most of a text is passed over quickly. The secret is the group, where there is one. */
const TOKEN_FORMS: readonly (readonly [kind: string, form: RegExp, glued?: RegExp])[] = [
  ['jwt', /eyJ[\w-]{8,2000}\.eyJ[\w-]{8,8000}\.[\w-]{16,1000}/g],
  ['authorization', /[Aa]uthorization["']?\s{0,4}[:=]\s{0,4}["']?(?:Bearer|Basic|Token)\s{1,4}([\w.~+/=-]{12,4000})/g],
  ['openai', /sk-(?:proj|svcacct|admin)-[\w-]{20,300}/g],
  ['aws', /(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Za-z0-9+/])/g],
  ['google', /AIza[\w-]{35}(?![\w-])/g],
  ['stripe', /(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,200}/g],
  ['azure', /(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,120}={0,2})/g],
  // As a file of settings has it: what stands for a value elsewhere, and numbers, are none. A name may be longer: PGPASSWORD.
  [
    'setting',
    /(?:PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY|(?:ACCESS|PRIVATE|SECRET)_KEY)(?:_\d{1,3})?=["']?((?!\d+(?![^\s"'])|(?:process|os|import|env)\.)[^\s"'$<>{}()[\],;|&`\\]{8,1000})/g,
    LOWERCASE_LETTER,
  ],
]

export const findTokens = (content: string): readonly RedactionSpan[] =>
  TOKEN_FORMS.flatMap(([kind, form, glued = WORD_CHARACTER]) =>
    Array.from(content.matchAll(form)).flatMap(({ 0: all, 1: secret = all, index }) => {
      const start = index + all.length - secret.length
      return glued.test(content.charAt(index - 1)) ? [] : { start, end: start + secret.length, kind }
    }),
  )
