/** How much a test tries: little in `npm test`, which repeats the same cases, and all of it in `npm run soak` and `npm run fuzz`. */
export const isThorough = process.env['FUMI_SEED'] !== undefined

/** Number of cases of a property test. */
export const runs = (usual: number, thorough: number): { readonly numRuns: number } => ({
  numRuns: isThorough ? thorough : usual,
})
