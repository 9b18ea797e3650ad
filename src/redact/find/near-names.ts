/** Finds text without words that stands near a word for a secret, or near the name of a service whose keys have no form of their own. */
import { isPlaceholder, isReference } from './placeholder.ts'
import { looksRandom } from './plausible-value.ts'
import type { TextRun } from './scan-text.ts'
import type { NameStrength } from './secret-names.ts'
import type { RedactionSpan } from './span.ts'

/** Services whose documented keys are letters and digits only. */
const SERVICE =
  /(?:^|[^a-z])(?:adafruit|airtable|algolia|alibaba|asana|atlassian|beamer|bitbucket|bittrex|braintree|cloudflare|wandb|codecov|cohere|coinbase|confluent|contentful|datadog|deepgram|assemblyai|mistral|discord|droneci|dropbox|etsy|facebook|fastly|finicity|finnhub|flickr|freshbooks|gitter|heroku|hetzner|hubspot|intercom|jenkins|jfrog|jira|kraken|kucoin|linkedin|linode|lob|looker|mailchimp|mailgun|mapquest|mattermost|maxmind|meraki|messagebird|mixpanel|netlify|new ?relic|newsapi|nytimes|okta|openweather|opsgenie|pagerduty|pingdom|plaid|postmark|privateai|pubnub|pusher|rapidapi|rollbar|segment|sendbird|sentry|serpapi|shodan|sidekiq|snyk|sonar|splunk|spotify|squarespace|sumo ?logic|telegram|travis|trello|twilio|twitch|twitter|virustotal|vultr|wakatime|weatherapi|yandex|zendesk|zoom|exa|kagi|brave)(?![a-z])/i
const KEY_WORD = /(?:key|token|secret|auth|sid|pat)s?$/i
const SERVICE_REACH = 60
const REACH = 100
const CANDIDATE = /[A-Za-z0-9][\w+/=.~-]{14,400}/g
/** Alone in the next line that is not empty. */
const VALUE_BELOW = /^(?:\s*(?:```\w*)?\s*\n)?\s*["'`]?([\w+/=.~-]{20,400})["'`]?[ \t]*(?:\r?\n|$)/
/** Ids that model servers give to requests and answers. */
const SERVER_ID =
  /^(?:req|msg|call|toolu|srvtoolu|resp|chatcmpl|run|thread|evt|item|rs|fc|asst|step|batch|org|user)[_-]/
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** Words that say that the value after them is not a secret. */
const OTHER =
  /\b(?:hash|sha\d*|md5|digest|checksum|commit|revision|uuid|guid|id|fingerprint|etag|integrity|version|file|path|url|branch|image|model|request|trace)\b[^\n]{0,30}$|(?:[a-z]I[dD]|_id|_ID)["'`]?\s{0,3}[:=]\s{0,3}["'`]?$/i

/** A name without a value behind it. */
export interface NamePlace {
  readonly start: number
  readonly end: number
  /** Undefined for a name of anything. */
  readonly strength: NameStrength | undefined
}

/** @param runs of letters and digits, in order, near one of which a name must stand */
export function findNearNames(
  text: string,
  names: readonly NamePlace[],
  runs: readonly TextRun[],
  spans: RedactionSpan[],
): void {
  let next = 0
  for (const name of names) {
    while (next < runs.length && (runs[next]?.start ?? 0) < name.end) next++
    const run = runs[next]
    if (run && run.start <= name.end + REACH) findNearName(text, name, spans)
  }
}

function findNearName(text: string, { start, end, strength }: NamePlace, spans: RedactionSpan[]): void {
  const isService = KEY_WORD.test(text.slice(Math.max(start, end - 8), end)) && isNearService(text, start, end)
  if (isService || (strength !== undefined && strength !== 'weak')) findBehind(text, end, spans, isService)
}

function isNearService(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - SERVICE_REACH), end)
  return SERVICE.test(before.slice(before.lastIndexOf('\n') + 1))
}

function findBehind(text: string, at: number, spans: RedactionSpan[], isService: boolean): void {
  const lineEnd = text.indexOf('\n', at)
  const reach = text.slice(at, Math.min(lineEnd < 0 ? text.length : lineEnd, at + REACH) + 400)
  const line = lineEnd < 0 ? reach : reach.slice(0, Math.max(0, lineEnd - at))
  const below = /^[^\n]{0,60}:["'`*]{0,3}[ \t]*$/.test(line)
    ? VALUE_BELOW.exec(text.slice(lineEnd, lineEnd + 500))
    : null
  if (below?.[1] !== undefined && isCandidate(below[1], isService)) {
    const start = lineEnd + below[0].indexOf(below[1])
    spans.push({ start, end: start + below[1].length, kind: 'entropy' })
    return
  }
  for (const { 0: written, index } of line.matchAll(CANDIDATE)) {
    if (index > REACH) return
    const value = written.replace(/[.,;:=-]+$/, (end) => (end.startsWith('=') ? end.replace(/[^=]/g, '') : ''))
    if (
      OTHER.test(line.slice(0, index)) ||
      /[\w/.@:]$/.test(line.slice(0, index)) ||
      line[index + written.length] === '('
    )
      continue
    if (!isCandidate(value, isService)) continue
    spans.push({ start: at + index, end: at + index + value.length, kind: 'entropy' })
    return
  }
}

function isCandidate(value: string, isService: boolean): boolean {
  if (value.length < (isService ? 16 : 20) || isReference(value) || isPlaceholder(value)) return false
  if (SERVER_ID.test(value)) return false
  if (UUID.test(value)) return isService
  if (/^[0-9a-f]+$/i.test(value)) return /\d/.test(value) && /[a-f]/i.test(value) && (isService || value.length >= 32)
  if (/[/.]/.test(value) && /^[\w-]+(?:[/.][\w-]+)+$/.test(value) && !/[A-Z].*\d|\d.*[A-Z]/.test(value)) return false
  return /\d/.test(value) && looksRandom(value)
}
