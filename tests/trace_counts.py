#!/usr/bin/env python3
"""Compares what `boatload trace` counts and times with strace and with a bpftrace script of its own, for real programs.

    sudo tests/trace_counts.py [--boatload PROGRAM] [--turns 5] [--repository DIR] [--tar FILE]

Counts of each operation must be those of `strace -f -y` in a run of the same command, where calls on pipes, sockets and devices are
left out by what strace says of their descriptor. Times of each operation are the shortest of several turns, by turns with boatload
and with bpftrace, whose script (below) shares nothing with the one of boatload: what else runs makes a turn longer, and never
shorter. Prints both as lines of a Markdown table; the exit code is 1 if a count differs, or if all calls together differ by more
than 15% in time."""
import argparse, collections, json, os, pathlib, re, shutil, statistics, subprocess, sys, tempfile

OPERATIONS = {
    'read': 'read pread64 readv preadv preadv2', 'write': 'write pwrite64 writev pwritev pwritev2', 'close': 'close',
    'fsync': 'fsync fdatasync sync_file_range syncfs sync', 'stat': 'stat lstat fstat newfstatat statx', 'list': 'getdents getdents64',
    'rename': 'rename renameat renameat2', 'unlink': 'unlink', 'rmdir': 'rmdir', 'mkdir': 'mkdir mkdirat', 'link': 'link linkat',
    'symlink': 'symlink symlinkat', 'truncate': 'truncate ftruncate', 'access': 'access faccessat faccessat2',
    'readlink': 'readlink readlinkat', 'chmod': 'chmod fchmod fchmodat fchmodat2', 'chown': 'chown lchown fchown fchownat',
    'utime': 'utime utimes futimesat utimensat', 'copy': 'copy_file_range sendfile', 'fallocate': 'fallocate',
    'xattr': 'getxattr lgetxattr fgetxattr setxattr lsetxattr fsetxattr listxattr llistxattr flistxattr removexattr lremovexattr '
             'fremovexattr'}
OF = {call: operation for operation, calls in OPERATIONS.items() for call in calls.split()}
BY_FLAGS = {'open', 'openat', 'creat', 'unlinkat'}
OF_FILES = {'read', 'write', 'close', 'copy'}
EVENTS = '/sys/kernel/tracing/events/syscalls'
LINE = re.compile(r'^\d+ +(\w+)\((.*)')
DESCRIPTOR = re.compile(r'-?\d+<([^>]*)>')


def operation_of(call, rest):
    if call in ('open', 'openat', 'openat2', 'creat'):
        return 'create' if call == 'creat' or 'O_CREAT' in rest else 'open'
    if call == 'unlinkat':
        return 'rmdir' if 'AT_REMOVEDIR' in rest else 'unlink'
    return OF.get(call)


def by_strace(command, place):
    log = place / 'strace.log'
    calls = ','.join(f'?{call}' for call in sorted(set(OF) | BY_FLAGS | {'openat2'}))
    subprocess.run(['strace', '-f', '-y', '-s', '0', '-o', log, '-e', f'trace={calls}', '--', *command], check=True, cwd=place,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    counts, failed = collections.Counter(), collections.Counter()
    for line in log.read_text(errors='replace').splitlines():
        found = LINE.match(line)
        operation = found and operation_of(*found.groups())
        if not operation:
            continue
        if operation in OF_FILES:
            file = DESCRIPTOR.match(found[2])
            # What /dev has in files are directories, and files in memory.
            if not file or not file[1].startswith('/') or file[1].startswith(('/dev/', '/memfd')) and not file[1].startswith('/dev/shm'):
                continue
        counts[operation] += 1
        failed[operation] += ' = -1 ' in line
    log.unlink()
    return counts, failed


def by_boatload(boatload, command, place):
    document = place / 'trace.json'
    subprocess.run([boatload, 'trace', '--quiet', '--store', place / 'trace.db', '--json', document, '--', *command], check=True,
                   cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    run = json.loads(document.read_text())
    counts, times = collections.Counter(), collections.Counter()
    for m in run['measurements']:
        counts[m['phase']] = m['operations'] + sum(m['errors'].values())
        times[m['phase']] = m['seconds']
    return counts, times, run['run']['traced']


def script():
    """Latencies by system call of a process and its children; reads, writes, copies and closes of regular files and directories."""
    regular = ('((struct file *)*(uint64 *)((uint64)((struct task_struct *)curtask)->files->fdt->fd + 8 * (uint64)args->{fd}))'
               '->f_inode->i_mode & 0170000')
    text = ['BEGIN { @p[(uint64)cpid] = 1; }',
            'tracepoint:sched:sched_process_fork / @p[(uint64)pid] / { @p[(uint64)args->child_pid] = 1; }']
    for call in sorted(set(OF) | BY_FLAGS):
        if not pathlib.Path(f'{EVENTS}/sys_enter_{call}').exists():
            continue
        name = operation_of(call, '')
        kind = '1'
        if call in ('open', 'openat'):
            kind = '(args->flags & 0100) ? 2 : 1'
        if call == 'unlinkat':
            kind = '(args->flag & 0x200) ? 2 : 1'
        entry = f'@s[tid] = nsecs; @k[tid] = {kind};'
        if name in OF_FILES:
            fd = {'copy_file_range': 'fd_in', 'sendfile': 'out_fd'}.get(call, 'fd')
            entry = f'$m = {regular.format(fd=fd)}; if ($m == 0100000 || $m == 0040000) {{ {entry} }}'
        text.append(f'tracepoint:syscalls:sys_enter_{call} / @p[(uint64)pid] / {{ {entry} }}')
        text.append(f'tracepoint:syscalls:sys_exit_{call} / @s[tid] / '
                    f'{{ @ns["{call}", @k[tid]] = sum(nsecs - @s[tid]); @s[tid] = 0; }}')
    return '\n'.join(text + ['END { clear(@p); clear(@s); clear(@k); }'])


def by_bpftrace(command, place, text):
    said = place / 'bpftrace.json'
    subprocess.run(['bpftrace', '-f', 'json', '-o', said, '-c', ' '.join(map(str, command)), '-e', text], check=True, cwd=place,
                   env={**os.environ, 'BPFTRACE_MAX_PROBES': '1024'}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    times = collections.Counter()
    for line in said.read_text(errors='replace').splitlines():
        data = json.loads(line).get('data', {})
        for key, ns in (data.get('@ns', {}) if isinstance(data, dict) else {}).items():
            call, kind = key.rsplit(',', 1)
            flags = 'O_CREAT AT_REMOVEDIR' if kind == '2' else ''
            times[operation_of(call, flags)] += ns / 1e9
    return times


def commands(arguments, place):
    """Each with what must be done before it."""
    repository, archive = arguments.repository, arguments.tar
    tar, git, rm, make = (shutil.which(name) for name in ('tar', 'git', 'rm', 'make'))
    build = place / 'build'
    build.mkdir()
    for number in range(40):
        (build / f'f{number}.c').write_text('#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n'
                                            f'int f{number}(int n) {{ printf("%d", n); return n * {number}; }}\n')
    (build / 'Makefile').write_text('all: ' + ' '.join(f'f{n}.o' for n in range(40)) + '\n')

    def fresh(*names):
        for name in names:
            shutil.rmtree(place / name, ignore_errors=True)

    def unpacked():
        fresh('x')
        (place / 'x').mkdir()
        subprocess.run([tar, 'xf', archive, '-C', 'x'], cwd=place, check=True)

    def empty():
        fresh('x')
        (place / 'x').mkdir()

    def clean():
        for one in build.glob('*.o'):
            one.unlink()

    return [('git clone', [git, 'clone', '-q', '--no-hardlinks', repository, 'clone'], lambda: fresh('clone')),
            ('tar xf', [tar, 'xf', archive, '-C', 'x'], empty), ('rm -r', [rm, '-r', 'x'], unpacked),
            ('make, 40 files', [make, '-s', '-C', 'build'], clean)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--boatload', default='target/release/boatload')
    parser.add_argument('--turns', type=int, default=5)
    parser.add_argument('--repository', default='.')
    parser.add_argument('--tar', help='default: the working tree of this repository')
    arguments = parser.parse_args()
    lacks = [name for name in ('bpftrace', 'strace', 'git', 'make', 'gcc', 'tar') if not shutil.which(name)]
    if os.geteuid() != 0 or lacks:
        sys.exit('skipped: ' + (f'no {", ".join(lacks)}' if lacks else 'it takes root'))
    if not pathlib.Path(EVENTS).exists():
        shell = 'mount -t tracefs tracefs /sys/kernel/tracing && exec "$@"'
        os.execvp('unshare', ['unshare', '-m', 'sh', '-c', shell, 'sh', sys.executable, *sys.argv])
    boatload, arguments.repository = (os.path.abspath(one) for one in (arguments.boatload, arguments.repository))
    place = pathlib.Path(tempfile.mkdtemp(prefix='trace-counts-'))
    if not arguments.tar:
        arguments.tar = place / 'tree.tar'
        subprocess.run(['git', '-C', arguments.repository, 'archive', '-o', arguments.tar, 'HEAD'], check=True)
    arguments.tar = os.path.abspath(arguments.tar)
    # As little as possible waits for a processor within a call.
    os.nice(-20)
    text, is_wrong = script(), False
    for name, command, before in commands(arguments, place):
        before()
        subprocess.run(command, cwd=place, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        before()
        theirs, failed = by_strace(command, place)
        before()
        counts, _, traced = by_boatload(boatload, command, place)
        differences = {one: (counts[one], theirs[one]) for one in sorted(set(counts) | set(theirs)) if counts[one] != theirs[one]}
        print(f'{name}: {sum(counts.values()):,} calls, {sum(failed.values()):,} of them failed, lost {traced["lost"]}; '
              f'differ from strace: {differences or "none"}', flush=True)
        is_wrong |= bool(differences)
        own, others = collections.defaultdict(list), collections.defaultdict(list)
        for _ in range(arguments.turns):
            before()
            times = by_boatload(boatload, command, place)[1]
            before()
            apart = by_bpftrace(command, place, text)
            for operation in set(times) | set(apart):
                own[operation].append(times[operation])
                others[operation].append(apart[operation])
        for of in (own, others):
            of['all'] = [sum(min(turns) for turns in of.values())]
        for operation in sorted(own, key=lambda one: -min(own[one])):
            mine, apart = min(own[operation]), min(others[operation])
            if mine >= 0.03 * min(own['all']):
                ranges = [f'{min(of) * 1e3:.1f} ms ({statistics.median(of) * 1e3:.1f})' for of in (own[operation], others[operation])]
                count = counts.get(operation, sum(counts.values()))
                print(f'| {name} | {operation} | {count:,} | {ranges[0]} | {ranges[1]} | {mine / apart - 1:+.0%} |', flush=True)
                is_wrong |= operation == 'all' and abs(mine / apart - 1) > 0.15
    shutil.rmtree(place)
    sys.exit(1 if is_wrong else 0)


if __name__ == '__main__':
    main()
