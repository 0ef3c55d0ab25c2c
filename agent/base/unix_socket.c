/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "job.h"
#include "unix_socket.h"
#include "util.h"

bool unix_socket_address(struct sockaddr_un *address, const char *path)
{
	*address = (struct sockaddr_un) { .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(address->sun_path))
		return false;
	memcpy(address->sun_path, path, strlen(path));
	return true;
}

/* unix(7): connect() on a blocking socket waits for the listener for as long as SO_SNDTIMEO says. */
static int connect_as(const char *path, int flags, int wait_ms)
{
	struct timeval wait = { .tv_sec = wait_ms / 1000, .tv_usec = wait_ms % 1000 * 1000 };
	struct sockaddr_un address;
	int fd, why;

	if (!unix_socket_address(&address, path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait)) == 0 &&
			connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
			fcntl(fd, F_SETFL, O_NONBLOCK) == 0)
		return fd;
	why = errno;
	close(fd);
	errno = why;
	return -1;
}

int unix_socket_connect(const char *path)
{
	return connect_as(path, SOCK_NONBLOCK, 0);
}

int unix_socket_connect_within(const char *path, int wait_ms)
{
	return connect_as(path, 0, wait_ms);
}

bool unix_socket_send(int fd, const void *bytes, size_t size, int passed)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .header = {
		.cmsg_len = CMSG_LEN(sizeof(int)),
		.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
	} };
	struct iovec part = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (passed >= 0) {
		memcpy(CMSG_DATA(&control.header), &passed, sizeof(passed));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control.room);
	}
	return sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size;
}

/* ---- the peer ---- */

enum { DUMP_MAX_MS = 200 };	/* the longest wait for an answer from the kernel */

pid_t peer_process(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0 ? peer.pid : 0;
}

uid_t peer_user(int fd)
{
	char *path = util_format("/proc/%d", (int)peer_process(fd));
	struct stat is;
	bool good = stat(path, &is) == 0;

	free(path);
	return good ? is.st_uid : (uid_t)-1;
}

/* The process if it is stopped, else 0. proc(5): "PID (NAME) STATE ..."; a name may contain anything. */
static pid_t stopped_of(pid_t pid)
{
	char *path = util_format("/proc/%d/stat", (int)pid), line[128] = "", *end;
	FILE *file = pid ? fopen(path, "re") : NULL;

	free(path);
	if (file && !fgets(line, sizeof(line), file))
		line[0] = '\0';
	if (file)
		fclose(file);
	end = strrchr(line, ')');
	return end && (end[1] && (end[2] == 'T' || end[2] == 't')) ? pid : 0;
}

char *peer_folder(int fd)
{
	pid_t pid = peer_process(fd);
	char folder[PATH_MAX], *link;
	ssize_t length;

	if (!pid)
		return NULL;
	link = util_format("/proc/%d/cwd", (int)pid);
	length = readlink(link, folder, sizeof(folder));
	free(link);
	if (length <= 0 || (size_t)length == sizeof(folder))
		return NULL;
	return util_copy(folder, (size_t)length);
}

/* Does a process hold the socket with this inode? `wanted`: the name of its link in /proc/PID/fd. */
static bool holds_socket(const char *pid, const char *wanted)
{
	char *path = util_format("/proc/%s/fd", pid);
	DIR *folder = opendir(path);
	struct dirent *entry;
	bool found = false;

	free(path);
	while (folder && !found && (entry = readdir(folder))) {
		char target[64] = "";

		found = readlinkat(dirfd(folder), entry->d_name, target, sizeof(target) - 1) > 0 &&
			strcmp(target, wanted) == 0;
	}
	if (folder)
		closedir(folder);
	return found;
}

static char *name_process(const char *pid)
{
	char *path = util_format("/proc/%s/comm", pid), name[64] = "?";
	char *printable, *text;
	FILE *file = fopen(path, "re");

	if (file && fgets(name, sizeof(name), file))
		name[strcspn(name, "\n")] = '\0';
	if (file)
		fclose(file);
	free(path);
	printable = util_printable(name, strlen(name));
	text = util_format("%s (pid %s)", printable, pid);
	free(printable);
	return text;
}

static char *holder_of(uint32_t inode)
{
	char *wanted = util_format("socket:[%u]", inode), *holder = NULL;
	DIR *folder = opendir("/proc");
	struct dirent *entry;

	while (folder && !holder && (entry = readdir(folder)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
				holds_socket(entry->d_name, wanted))
			holder = name_process(entry->d_name);
	if (folder)
		closedir(folder);
	free(wanted);
	return holder;
}

/* The peer's inode, if this socket was accepted by the listener whose socket file has the inode `file`; else 0. */
static uint32_t client_of(const struct nlmsghdr *header, uint32_t file)
{
	const struct unix_diag_msg *message = NLMSG_DATA(header);
	const struct rtattr *attribute = (const struct rtattr *)(message + 1);
	size_t left = NLMSG_PAYLOAD(header, sizeof(*message));
	struct unix_diag_vfs vfs = { 0 };
	uint32_t peer = 0;

	for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
		if (attribute->rta_type == UNIX_DIAG_VFS && RTA_PAYLOAD(attribute) >= sizeof(vfs))
			memcpy(&vfs, RTA_DATA(attribute), sizeof(vfs));
		if (attribute->rta_type == UNIX_DIAG_PEER && RTA_PAYLOAD(attribute) >= sizeof(peer))
			memcpy(&peer, RTA_DATA(attribute), sizeof(peer));
	}
	return vfs.udiag_vfs_ino == file ? peer : 0;
}

/* sock_diag(7): asks for all connected unix sockets, with their files and peers. */
static int ask_for_sockets(void)
{
	struct {
		struct nlmsghdr header;
		struct unix_diag_req request;
	} message = {
		.header = {
			.nlmsg_len = sizeof(message),
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		},
		.request = {
			.sdiag_family = AF_UNIX,
			.udiag_states = 1 << 1,		/* TCP_ESTABLISHED */
			.udiag_show = UDIAG_SHOW_VFS | UDIAG_SHOW_PEER,
		},
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	if (fd >= 0 && send(fd, &message, sizeof(message), 0) != sizeof(message)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static uint32_t find_client(uint32_t file, uint32_t own)
{
	uint32_t buffer[4096], client = 0;
	int fd = ask_for_sockets();
	bool more = fd >= 0;

	while (more && !client) {
		struct pollfd ready = { .fd = fd, .events = POLLIN };
		ssize_t size =
			poll(&ready, 1, DUMP_MAX_MS) > 0 ? recv(fd, buffer, sizeof(buffer), 0) : 0;
		const struct nlmsghdr *header = (const struct nlmsghdr *)buffer;
		size_t left = size > 0 ? (size_t)size : 0;

		more = size > 0;
		for (; NLMSG_OK(header, left); header = NLMSG_NEXT(header, left)) {
			if (header->nlmsg_type != SOCK_DIAG_BY_FAMILY) {
				more = false;
				break;
			}
			if (client_of(header, file) != own && client_of(header, file) != 0)
				client = client_of(header, file);
		}
	}
	if (fd >= 0)
		close(fd);
	return client;
}

pid_t peer_stopped(int fd)
{
	return stopped_of(peer_process(fd));
}

/* ---- the search ---- */

struct search {
	char *path;			/* the listening socket; NULL: no client is looked for */
	uint32_t own;			/* the inode of our own socket; 0: none */
	pid_t process;			/* the process that may be stopped; 0: none */
	struct peer_found found;
};

static void search(void *context)
{
	struct search *search = context;
	struct stat file;
	uint32_t client = 0;

	if (search->path && stat(search->path, &file) == 0)
		client = find_client((uint32_t)file.st_ino, search->own);
	search->found.client = client ? holder_of(client) : NULL;
	search->found.stopped = search->process ? stopped_of(search->process) : 0;
}

static void search_free(void *context)
{
	struct search *search = context;

	free(search->found.client);
	free(search->path);
	free(search);
}

struct job *peer_search(const char *path, int own_fd, int process_fd)
{
	static const struct job_work work = { .run = search, .free = search_free };
	struct search *context = util_alloc(sizeof(*context));
	struct stat own;

	context->path = path ? util_copy(path, strlen(path)) : NULL;
	context->own = own_fd >= 0 && fstat(own_fd, &own) == 0 ? (uint32_t)own.st_ino : 0;
	context->process = process_fd >= 0 ? peer_process(process_fd) : 0;
	return job_new(&work, context);
}

bool peer_found(struct job *job, struct peer_found *found)
{
	struct search *search = job_done(job);

	if (!search)
		return false;
	*found = search->found;
	search->found.client = NULL;
	job_leave(job);
	return true;
}
