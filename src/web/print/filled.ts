/** Labels whose gaps the exported document fills. */

/** `{0}` and on are the values of a list in JSON. */
export function fillLabel(label: string, list: string | undefined): string {
  const values = parseValues(list ?? '[]')
  return label.replace(/\{(\d)\}/g, (_, at: string) => values[Number(at)] ?? '')
}

function parseValues(list: string): readonly string[] {
  try {
    const values: unknown = JSON.parse(list)
    return Array.isArray(values) ? values.map(String) : []
  } catch {
    return []
  }
}
