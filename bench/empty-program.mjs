/** A program that does nothing, to measure Node itself. */
export {}
