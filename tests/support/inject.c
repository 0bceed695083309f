/* Makes one system call fail, or kills the process at it. Loaded with LD_PRELOAD; harmless until fault_arm is called.

   Only calls about files below one folder count: relative paths, paths below that folder, and what was opened there. A
   path is matched as text, as trainform's own files are never named through links. */

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Kinds of calls, to be combined; inject.py has the same numbers. */
enum { OPENS = 1, LOOKS = 2, READS = 4, CREATES = 8, WRITES = 16, REMOVES = 32, LOCKS = 64 };

enum { DESCRIPTORS = 4096 };

static char below[4096];
static int kinds, error, lasting;
static long due, counted;
static unsigned char ours[DESCRIPTORS]; /* 1: opened below the folder; 2: for writing, too */

/* The call `at` among those of `which` kinds fails with `number`, or is killed where that is 0; later ones, too, where
   the fault `stays`. */
void fault_arm(const char *folder, int which, long at, int number, int stays)
{
    strncpy(below, folder, sizeof below - 1);
    kinds = which;
    due = at;
    error = number;
    lasting = stays;
    counted = 0;
}

long fault_counted(void) { return counted; }

static int known(int descriptor) { return descriptor >= 0 && descriptor < DESCRIPTORS ? ours[descriptor] : 0; }

static int counts(int folder, const char *path)
{
    if (!below[0] || !path) return 0;
    if (path[0] == '/') return strncmp(path, below, strlen(below)) == 0;
    return folder == AT_FDCWD || known(folder);
}

/* Whether this call fails; errno is set. Does not return where it is to be killed. */
static int fails_now(int which)
{
    if (!(which & kinds)) return 0;
    counted++;
    if (counted < due || (counted > due && !lasting)) return 0;
    if (error == 0) kill(getpid(), SIGKILL);
    errno = error;
    return 1;
}

static int fails(int which, int folder, const char *path) { return counts(folder, path) && fails_now(which); }

static int fails_at(int which, int descriptor) { return known(descriptor) && fails_now(which); }

static int note(int descriptor, int how)
{
    if (descriptor >= 0 && descriptor < DESCRIPTORS) ours[descriptor] = how;
    return descriptor;
}

#define REAL(result, name, parameters) \
    static result (*real) parameters; \
    if (!real) real = (result (*) parameters)dlsym(RTLD_NEXT, #name)

#define MODE_OF(flags) \
    mode_t mode = 0; \
    if (flags & (O_CREAT | __O_TMPFILE)) { \
        va_list rest; \
        va_start(rest, flags); \
        mode = va_arg(rest, mode_t); \
        va_end(rest); \
    }

static int kind_of(int flags) { return OPENS | (flags & O_ACCMODE ? CREATES : READS); }

static int how(int flags) { return flags & O_ACCMODE ? 2 : 1; }

#define OPEN(name) \
    int name(const char *path, int flags, ...) \
    { \
        MODE_OF(flags) \
        REAL(int, name, (const char *, int, ...)); \
        if (fails(kind_of(flags), AT_FDCWD, path)) return -1; \
        return note(real(path, flags, mode), counts(AT_FDCWD, path) * how(flags)); \
    }
#define OPENAT(name) \
    int name(int folder, const char *path, int flags, ...) \
    { \
        MODE_OF(flags) \
        REAL(int, name, (int, const char *, int, ...)); \
        if (fails(kind_of(flags), folder, path)) return -1; \
        return note(real(folder, path, flags, mode), counts(folder, path) * how(flags)); \
    }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

int close(int descriptor)
{
    REAL(int, close, (int));
    int was_written = known(descriptor) == 2;
    note(descriptor, 0);
    int result = real(descriptor); /* closed in any case, as Linux does it */
    return was_written && fails_now(WRITES) ? -1 : result;
}

/* Pipes to git take descriptors, too. */
int pipe2(int ends[2], int flags)
{
    REAL(int, pipe2, (int[2], int));
    return fails_now(OPENS) ? -1 : real(ends, flags);
}

ssize_t read(int descriptor, void *data, size_t size)
{
    REAL(ssize_t, read, (int, void *, size_t));
    return fails_at(READS, descriptor) ? -1 : real(descriptor, data, size);
}

/* The first half is written, then the error comes: what a full disk and a kill leave. */
ssize_t write(int descriptor, const void *data, size_t size)
{
    REAL(ssize_t, write, (int, const void *, size_t));
    if (known(descriptor) && (kinds & WRITES) && counted + 1 == due) real(descriptor, data, size / 2);
    return fails_at(WRITES, descriptor) ? -1 : real(descriptor, data, size);
}

#define ON_DESCRIPTOR(name, which, parameters, ...) \
    int name parameters \
    { \
        REAL(int, name, parameters); \
        return fails_at(which, descriptor) ? -1 : real(__VA_ARGS__); \
    }
ON_DESCRIPTOR(fsync, WRITES, (int descriptor), descriptor)
ON_DESCRIPTOR(fdatasync, WRITES, (int descriptor), descriptor)
ON_DESCRIPTOR(flock, LOCKS, (int descriptor, int operation), descriptor, operation)
ON_DESCRIPTOR(fchmod, WRITES, (int descriptor, mode_t mode), descriptor, mode)
ON_DESCRIPTOR(fstat, LOOKS, (int descriptor, struct stat *found), descriptor, found)
ON_DESCRIPTOR(fstat64, LOOKS, (int descriptor, struct stat64 *found), descriptor, found)
ON_DESCRIPTOR(ftruncate64, WRITES, (int descriptor, off64_t size), descriptor, size)

#define ON_PATH(name, which, parameters, ...) \
    int name parameters \
    { \
        REAL(int, name, parameters); \
        return fails(which, AT_FDCWD, path) ? -1 : real(__VA_ARGS__); \
    }
ON_PATH(mkdir, CREATES, (const char *path, mode_t mode), path, mode)
ON_PATH(chmod, WRITES, (const char *path, mode_t mode), path, mode)
ON_PATH(rmdir, REMOVES, (const char *path), path)
ON_PATH(unlink, REMOVES, (const char *path), path)
ON_PATH(rename, CREATES, (const char *path, const char *to), path, to)
ON_PATH(link, CREATES, (const char *path, const char *to), path, to)
ON_PATH(access, LOOKS, (const char *path, int mode), path, mode)
ON_PATH(stat, LOOKS, (const char *path, struct stat *found), path, found)
ON_PATH(lstat, LOOKS, (const char *path, struct stat *found), path, found)
ON_PATH(stat64, LOOKS, (const char *path, struct stat64 *found), path, found)
ON_PATH(lstat64, LOOKS, (const char *path, struct stat64 *found), path, found)

int symlink(const char *target, const char *path)
{
    REAL(int, symlink, (const char *, const char *));
    return fails(CREATES, AT_FDCWD, path) ? -1 : real(target, path);
}

#define IN_FOLDER(name, which, parameters, ...) \
    int name parameters \
    { \
        REAL(int, name, parameters); \
        return fails(which, folder, path) ? -1 : real(__VA_ARGS__); \
    }
IN_FOLDER(mkdirat, CREATES, (int folder, const char *path, mode_t mode), folder, path, mode)
IN_FOLDER(unlinkat, REMOVES, (int folder, const char *path, int flags), folder, path, flags)
IN_FOLDER(fchmodat, WRITES, (int folder, const char *path, mode_t mode, int flags), folder, path, mode, flags)
IN_FOLDER(utimensat, WRITES, (int folder, const char *path, const struct timespec times[2], int flags), folder, path, times, flags)
IN_FOLDER(renameat, CREATES, (int folder, const char *path, int to, const char *new), folder, path, to, new)
IN_FOLDER(renameat2, CREATES, (int folder, const char *path, int to, const char *new, unsigned flags), folder, path, to, new, flags)
IN_FOLDER(linkat, CREATES, (int folder, const char *path, int to, const char *new, int flags), folder, path, to, new, flags)
IN_FOLDER(fstatat, LOOKS, (int folder, const char *path, struct stat *found, int flags), folder, path, found, flags)
IN_FOLDER(fstatat64, LOOKS, (int folder, const char *path, struct stat64 *found, int flags), folder, path, found, flags)

DIR *opendir(const char *path)
{
    REAL(DIR *, opendir, (const char *));
    if (fails(OPENS | READS, AT_FDCWD, path)) return NULL;
    DIR *stream = real(path);
    if (stream) note(dirfd(stream), counts(AT_FDCWD, path));
    return stream;
}

struct dirent64 *readdir64(DIR *stream)
{
    REAL(struct dirent64 *, readdir64, (DIR *));
    return fails_at(READS, dirfd(stream)) ? NULL : real(stream);
}

struct dirent *readdir(DIR *stream)
{
    REAL(struct dirent *, readdir, (DIR *));
    return fails_at(READS, dirfd(stream)) ? NULL : real(stream);
}

int closedir(DIR *stream)
{
    REAL(int, closedir, (DIR *));
    note(dirfd(stream), 0);
    return real(stream);
}
