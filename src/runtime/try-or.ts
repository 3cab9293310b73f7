/** Returns the result of `read`, or `otherwise` if it throws. */
export function tryOr<Result, Otherwise>(otherwise: Otherwise, read: () => Result): Result | Otherwise {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
