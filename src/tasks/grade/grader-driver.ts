/** Where the driver writes its one document. Standard output belongs to the grader. */
export const resultDescriptor = 3

/**
 * The Python program around a grader. It sets the limits that the kernel enforces, reads the job from standard input,
 * calls `grade` and writes one document to the result descriptor. No program the grader starts inherits that
 * descriptor, and none may look into this process.
 */
export const graderDriver = `
import sys, os
CHANNEL = ${resultDescriptor}
os.set_inheritable(CHANNEL, False)
try:
    import ctypes
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
except Exception:
    pass
try:
    import resource
    for name, text in (pair.split("=") for pair in sys.argv[1:]):
        if text == "":
            continue
        kind, limit = getattr(resource, name, None), int(text)
        if kind is None:
            continue
        hard = resource.getrlimit(kind)[1]
        if hard != resource.RLIM_INFINITY:
            limit = min(limit, hard)
        resource.setrlimit(kind, (limit, limit))
except ImportError:
    pass
import json, math, numbers, traceback
job = json.loads(sys.stdin.buffer.read())
sys.argv = ["grader"]

def reported(value):
    if isinstance(value, numbers.Real):
        number = float(value)
        if math.isfinite(number):
            return {"number": number}
    return {"other": repr(value)[:200]}

def tell(document):
    left = json.dumps(document).encode()
    while left:
        left = left[os.write(CHANNEL, left):]
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(0)

try:
    os.chdir(job["workspace"])
    space = {"__name__": "grader", "__builtins__": __builtins__}
    exec(compile(job["code"], "<automated checks>", "exec"), space)
    grade = space.get("grade")
    if not callable(grade):
        tell({"error": "The automated checks define no function named grade."})
    result = grade(job["transcript"], job["workspace"])
    if not isinstance(result, dict):
        tell({"error": "grade returned " + repr(result)[:200] + ", not a dict."})
    tell({"scores": [[str(name), reported(value)] for name, value in result.items()]})
except MemoryError:
    tell({"error": "The grader ran out of memory."})
except BaseException as problem:
    where = [part for part in traceback.extract_tb(problem.__traceback__) if part.filename == "<automated checks>"]
    line = " in line " + str(where[-1].lineno) if where else ""
    tell({"error": "The grader raised " + type(problem).__name__ + line + ": " + str(problem)[:500]})
`
