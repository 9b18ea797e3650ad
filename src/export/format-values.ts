/** Times as a person reads them. */

/** `2026-02-03 18:15:02` in a time zone; what is no time stays as it is. */
export function createTimeFormatter(timeZone = 'UTC'): (at: string) => string {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  })
  return (at) => {
    const time = Date.parse(at)
    if (Number.isNaN(time)) return at
    const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, value]))
    const [year, month, day] = [parts.get('year'), parts.get('month'), parts.get('day')]
    return `${year}-${month}-${day} ${parts.get('hour')}:${parts.get('minute')}:${parts.get('second')}`
  }
}

export const formatInteger = (n: number): string => n.toLocaleString('en-US')
