/* A stand-in for NVIDIA's libnvidia-ml.so.1, so that the unmodified Python binding runs in tests.
 *
 * What the GPUs are like stands in the file that GPUTIDE_FAKE_NVML names, `key value` on each line,
 * read again at each call. Keys of GPU 0 begin with "0.". A key that is not there has a default;
 * a field value that is not there is NVML_ERROR_NOT_SUPPORTED. `0.refuse.NAME code` makes a call
 * fail, `0.lost 1` all of that GPU's, and `0.hang SECONDS` lets its readings hang meanwhile.
 *
 * -DOLD_DRIVER leaves out what drivers before 510 do not have.
 */
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include <nvml.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_GPUS 8
#define MAX_MIGS 7
#define MIB (1024ULL * 1024ULL)
#define API __attribute__((visibility("default")))

struct nvmlDevice_st { int gpu; int mig; };
struct nvmlEventSet_st { int registered[MAX_GPUS]; };
struct nvmlGpmSample_st { int gpu; int instance; int taken; };

static struct nvmlDevice_st cards[MAX_GPUS];
static struct nvmlDevice_st migs[MAX_GPUS][MAX_MIGS];
static int is_started;
static int calls;
static int shutdowns;
static int hanging;

static int text(const char *key, char *value, int size)
{
    const char *path = getenv("GPUTIDE_FAKE_NVML");
    FILE *file = path ? fopen(path, "r") : NULL;
    char line[512];
    size_t length = strlen(key);
    int is_found = 0;
    while (file && !is_found && fgets(line, sizeof line, file)) {
        if (strncmp(line, key, length) == 0 && line[length] == ' ') {
            line[strcspn(line, "\n")] = 0;
            snprintf(value, size, "%s", line + length + 1);
            is_found = 1;
        }
    }
    if (file)
        fclose(file);
    return is_found;
}

static double number(const char *key, double otherwise)
{
    char value[64];
    return text(key, value, sizeof value) ? atof(value) : otherwise;
}

static double of(int gpu, const char *key, double otherwise)
{
    char full[128];
    snprintf(full, sizeof full, "%d.%s", gpu, key);
    return number(full, otherwise);
}

static double of_mig(nvmlDevice_t device, const char *key, double otherwise)
{
    char full[128];
    snprintf(full, sizeof full, "%d.mig.%d.%s", device->gpu, device->mig, key);
    return number(full, otherwise);
}

/* What a call of that name on that device answers, before it does anything. */
static nvmlReturn_t answer(nvmlDevice_t device, const char *name)
{
    char key[128];
    __sync_fetch_and_add(&calls, 1);
    if (!is_started)
        return NVML_ERROR_UNINITIALIZED;
    if (number("gone", 0))
        return NVML_ERROR_DRIVER_NOT_LOADED;
    if (device == NULL)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (of(device->gpu, "lost", 0))
        return NVML_ERROR_GPU_IS_LOST;
    snprintf(key, sizeof key, "refuse.%s", name);
    return (nvmlReturn_t)of(device->gpu, key, NVML_SUCCESS);
}

#define ASK(device, name)                                                                          \
    do {                                                                                           \
        nvmlReturn_t told = answer(device, name);                                                  \
        if (told != NVML_SUCCESS)                                                                  \
            return told;                                                                           \
    } while (0)
#define WHOLE_ONLY(device)                                                                         \
    do {                                                                                           \
        if ((device)->mig >= 0 || of((device)->gpu, "mig", 0))                                     \
            return NVML_ERROR_NOT_SUPPORTED;                                                       \
    } while (0)
#define NUMBER(function, type, name, otherwise)                                                    \
    API nvmlReturn_t function(nvmlDevice_t device, type *value)                                    \
    {                                                                                              \
        ASK(device, name);                                                                         \
        *value = (type)of(device->gpu, name, otherwise);                                           \
        return NVML_SUCCESS;                                                                       \
    }
#define BY_KIND(function, kind_type, name, otherwise)                                              \
    API nvmlReturn_t function(nvmlDevice_t device, kind_type kind, unsigned int *value)            \
    {                                                                                              \
        char key[64];                                                                              \
        snprintf(key, sizeof key, "%s.%d", name, (int)kind);                                       \
        ASK(device, name);                                                                         \
        *value = (unsigned int)of(device->gpu, key, otherwise);                                    \
        return NVML_SUCCESS;                                                                       \
    }

/* For tests: calls made, shutdowns made, calls that hang or are about to ask for power. */
API int gputide_fake_calls(void) { return calls; }

API int gputide_fake_shutdowns(void) { return shutdowns; }
API int gputide_fake_hanging(void) { return hanging; }

API nvmlReturn_t nvmlInitWithFlags(unsigned int flags)
{
    nvmlReturn_t told = (nvmlReturn_t)number("init", NVML_SUCCESS);
    (void)flags;
    if (told != NVML_SUCCESS)
        return told;
    for (int gpu = 0; gpu < MAX_GPUS; gpu++) {
        cards[gpu].gpu = gpu;
        cards[gpu].mig = -1;
        for (int mig = 0; mig < MAX_MIGS; mig++) {
            migs[gpu][mig].gpu = gpu;
            migs[gpu][mig].mig = mig;
        }
    }
    is_started = 1;
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlInit_v2(void) { return nvmlInitWithFlags(0); }

API nvmlReturn_t nvmlShutdown(void)
{
    is_started = 0;
    shutdowns++;
    return NVML_SUCCESS;
}

API const char *nvmlErrorString(nvmlReturn_t code) { return code == 999 ? "Unknown" : "another"; }

API nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length)
{
    if (!text("driver", version, (int)length))
        snprintf(version, length, "570.133.20");
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned int length)
{
    snprintf(version, length, "12.570.133.20");
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    *version = 12080;
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlSystemGetProcessName(unsigned int pid, char *name, unsigned int length)
{
    if (pid == 404)
        return NVML_ERROR_NOT_FOUND;
    snprintf(name, length, "/usr/bin/worker-%u", pid);
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *count)
{
    __sync_fetch_and_add(&calls, 1);
    if (!is_started)
        return NVML_ERROR_UNINITIALIZED;
    if (number("gone", 0))
        return NVML_ERROR_DRIVER_NOT_LOADED;
    *count = (unsigned int)number("count", 1);
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device)
{
    if (index >= MAX_GPUS)
        return NVML_ERROR_INVALID_ARGUMENT;
    ASK(&cards[index], "handle");
    *device = &cards[index];
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned int length)
{
    ASK(device, "uuid");
    if (device->mig >= 0)
        snprintf(uuid, length, "MIG-00000000-0000-0000-%04d-%012d", device->mig, device->gpu);
    else
        snprintf(uuid, length, "GPU-00000000-0000-0000-0000-%012d", device->gpu);
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
{
    int gpu = 0, mig = -1;
    if (sscanf(uuid, "MIG-00000000-0000-0000-%d-%d", &mig, &gpu) == 2)
        *device = &migs[gpu][mig];
    else if (sscanf(uuid, "GPU-00000000-0000-0000-0000-%d", &gpu) == 1)
        *device = &cards[gpu];
    else
        return NVML_ERROR_NOT_FOUND;
    return answer(*device, "handle");
}

API nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned int length)
{
    char model[96];
    ASK(device, "name");
    if (!text("model", model, sizeof model))
        snprintf(model, sizeof model, "NVIDIA H100 80GB HBM3");
    if (device->mig >= 0 && of(device->gpu, "mignames", 1))
        snprintf(name, length, "%s MIG %dc.%dg.%dgb", model, 1,
                 (int)of_mig(device, "slices", 1), (int)of_mig(device, "gb", 10));
    else
        snprintf(name, length, "%s", model);
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
    ASK(device, "pci");
    snprintf(pci->busId, sizeof pci->busId, "00000000:%02X:00.0", 0x17 + device->gpu);
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlDeviceGetSerial(nvmlDevice_t device, char *serial, unsigned int length)
{
    ASK(device, "serial");
    snprintf(serial, length, "15600%08d", device->gpu);
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlDeviceGetVbiosVersion(nvmlDevice_t device, char *version, unsigned int length)
{
    ASK(device, "vbios");
    snprintf(version, length, "96.00.74.00.01");
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlDeviceGetInforomImageVersion(nvmlDevice_t device, char *v, unsigned int length)
{
    ASK(device, "inforom");
    snprintf(v, length, "G520.0200.00.05");
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlDeviceGetInforomVersion(nvmlDevice_t device, nvmlInforomObject_t part, char *v,
                                             unsigned int length)
{
    ASK(device, "inforom");
    snprintf(v, length, "%d.0", (int)part + 1);
    return NVML_SUCCESS;
}

NUMBER(nvmlDeviceGetMinorNumber, unsigned int, "minor", device->gpu)
NUMBER(nvmlDeviceGetBrand, nvmlBrandType_t, "brand", NVML_BRAND_NVIDIA)
NUMBER(nvmlDeviceGetFanSpeed, unsigned int, "fan", 40)
NUMBER(nvmlDeviceGetPerformanceState, nvmlPstates_t, "pstate", 0)
NUMBER(nvmlDeviceGetPowerManagementLimit, unsigned int, "limit", 700000)
NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, unsigned int, "defaultlimit", 700000)
NUMBER(nvmlDeviceGetEnforcedPowerLimit, unsigned int, "enforcedlimit", 650000)
NUMBER(nvmlDeviceGetPcieReplayCounter, unsigned int, "replays", 3)
NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, unsigned int, "linkgen", 5)
NUMBER(nvmlDeviceGetCurrPcieLinkWidth, unsigned int, "linkwidth", 16)
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, unsigned int, "maxlinkgen", 5)
NUMBER(nvmlDeviceGetMaxPcieLinkWidth, unsigned int, "maxlinkwidth", 16)
BY_KIND(nvmlDeviceGetClockInfo, nvmlClockType_t, "clock", 1980)
BY_KIND(nvmlDeviceGetMaxClockInfo, nvmlClockType_t, "maxclock", 1980)
BY_KIND(nvmlDeviceGetApplicationsClock, nvmlClockType_t, "appclock", 1755)
BY_KIND(nvmlDeviceGetTemperature, nvmlTemperatureSensors_t, "temperature", 41)
BY_KIND(nvmlDeviceGetTemperatureThreshold, nvmlTemperatureThresholds_t, "threshold", 90)
BY_KIND(nvmlDeviceGetPcieThroughput, nvmlPcieUtilCounter_t, "throughput", 125)

API nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int *power)
{
    __sync_fetch_and_add(&hanging, 1);
    for (double waited = 0; waited < of(device->gpu, "hang", 0); waited += 0.005)
        usleep(5000);
    __sync_fetch_and_sub(&hanging, 1);
    ASK(device, "power");
    *power = (unsigned int)of(device->gpu, "power", 412500);
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlDeviceGetPowerManagementLimitConstraints(nvmlDevice_t device, unsigned int *low,
                                                              unsigned int *high)
{
    ASK(device, "limits");
    *low = 200000;
    *high = 700000;
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *rates)
{
    ASK(device, "utilization");
    WHOLE_ONLY(device);
    rates->gpu = (unsigned int)of(device->gpu, "utilization", 87);
    rates->memory = (unsigned int)of(device->gpu, "copyutilization", 29);
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t device, unsigned int *utilization,
                                                 unsigned int *period)
{
    ASK(device, "encoder");
    WHOLE_ONLY(device);
    *utilization = 12;
    *period = 167000;
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlDeviceGetDecoderUtilization(nvmlDevice_t device, unsigned int *utilization,
                                                 unsigned int *period)
{
    ASK(device, "decoder");
    WHOLE_ONLY(device);
    *utilization = 7;
    *period = 167000;
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
    ASK(device, "memory");
    memory->total = 81559 * MIB;
    memory->used = 4935 * MIB;
    memory->free = memory->total - memory->used;
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t device, nvmlBAR1Memory_t *memory)
{
    ASK(device, "bar1");
    memory->bar1Total = 131072 * MIB;
    memory->bar1Used = 5 * MIB;
    memory->bar1Free = memory->bar1Total - memory->bar1Used;
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlDeviceGetGridLicensableFeatures_v4(nvmlDevice_t device,
                                                        nvmlGridLicensableFeatures_t *features)
{
    ASK(device, "license");
    features->isGridLicenseSupported = 1;
    features->licensableFeaturesCount = 1;
    features->gridLicensableFeatures[0].featureState = (unsigned int)of(device->gpu, "license", 1);
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t *values)
{
    ASK(device, "fields");
    for (int i = 0; i < count; i++) {
        char key[64], value[64];
        snprintf(key, sizeof key, "%d.field.%u", device->gpu, values[i].fieldId);
        values[i].nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
        if (!text(key, value, sizeof value))
            continue;
        values[i].nvmlReturn = NVML_SUCCESS;
        if (strncmp(value, "error ", 6) == 0)
            values[i].nvmlReturn = (nvmlReturn_t)atoi(value + 6);
        else if (strncmp(value, "double ", 7) == 0) {
            values[i].valueType = NVML_VALUE_TYPE_DOUBLE;
            values[i].value.dVal = atof(value + 7);
        } else if (strncmp(value, "signed ", 7) == 0) {
            values[i].valueType = NVML_VALUE_TYPE_SIGNED_INT;
            values[i].value.siVal = atoi(value + 7);
        } else if (strncmp(value, "uint ", 5) == 0) {
            values[i].valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
            values[i].value.uiVal = (unsigned int)atoi(value + 5);
        } else {
            values[i].valueType = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
            values[i].value.ullVal = strtoull(value, NULL, 10);
        }
    }
    return NVML_SUCCESS;
}

#ifdef OLD_DRIVER
NUMBER(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long, "reasons", 4)
#else
NUMBER(nvmlDeviceGetCurrentClocksEventReasons, unsigned long long, "reasons", 4)

API nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory)
{
    ASK(device, "memory2");
    memory->total = 81559 * MIB;
    memory->reserved = 551 * MIB;
    memory->used = 4384 * MIB;
    if (device->mig >= 0) {
        memory->total = (unsigned long long)of_mig(device, "memory", 9984) * MIB;
        memory->reserved = 0;
        memory->used = (unsigned long long)of_mig(device, "used", 6) * MIB;
    }
    memory->free = memory->total - memory->reserved - memory->used;
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int *now, unsigned int *pending)
{
    ASK(device, "migmode");
    *now = *pending = of(device->gpu, "mig", 0) > 0;
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned int *count)
{
    ASK(device, "migcount");
    *count = MAX_MIGS;
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned int index,
                                                     nvmlDevice_t *mig)
{
    ASK(device, "mighandle");
    if (index >= of(device->gpu, "mig", 0))
        return NVML_ERROR_NOT_FOUND;
    *mig = &migs[device->gpu][index];
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t device, unsigned int *id)
{
    ASK(device, "instance");
    *id = (unsigned int)of_mig(device, "id", 7 + device->mig);
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t device, nvmlDeviceAttributes_t *attributes)
{
    ASK(device, "attributes");
    attributes->gpuInstanceSliceCount = (unsigned int)of_mig(device, "slices", 1);
    attributes->memorySizeMB = (unsigned long long)of_mig(device, "memory", 9984);
    return NVML_SUCCESS;
}

static nvmlReturn_t running(nvmlDevice_t device, const char *kind, unsigned int *count,
                            nvmlProcessInfo_t *infos)
{
    unsigned int room = *count, found = 0;
    ASK(device, kind);
    for (int i = 0; i < 8; i++) {
        char key[64];
        double pid, bytes;
        snprintf(key, sizeof key, "%s.%d.pid", kind, i);
        pid = device->mig >= 0 ? of_mig(device, key, 0) : of(device->gpu, key, 0);
        if (!pid)
            continue;
        snprintf(key, sizeof key, "%s.%d.mib", kind, i);
        bytes = device->mig >= 0 ? of_mig(device, key, -1) : of(device->gpu, key, -1);
        if (found < room && infos) {
            infos[found].pid = (unsigned int)pid;
            infos[found].usedGpuMemory =
                bytes < 0 ? ~0ULL : (unsigned long long)bytes * MIB;
            infos[found].gpuInstanceId = infos[found].computeInstanceId = 0xFFFFFFFF;
        }
        found++;
    }
    *count = found;
    return found > room ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

API nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int *count,
                                                         nvmlProcessInfo_t *infos)
{
    return running(device, "compute", count, infos);
}

API nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device, unsigned int *count,
                                                          nvmlProcessInfo_t *infos)
{
    return running(device, "graphics", count, infos);
}

API nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t device,
                                                 nvmlProcessUtilizationSample_t *samples,
                                                 unsigned int *count, unsigned long long since)
{
    unsigned int room = *count, found = 0;
    ASK(device, "use");
    WHOLE_ONLY(device);
    (void)since;
    for (int i = 0; i < 8; i++) {
        char key[64];
        double pid;
        snprintf(key, sizeof key, "use.%d.pid", i);
        pid = of(device->gpu, key, 0);
        if (!pid)
            continue;
        if (found < room && samples) {
            memset(&samples[found], 0, sizeof samples[found]);
            samples[found].pid = (unsigned int)pid;
            snprintf(key, sizeof key, "use.%d.sm", i);
            samples[found].smUtil = (unsigned int)of(device->gpu, key, 0);
            samples[found].memUtil = samples[found].smUtil / 4;
        }
        found++;
    }
    *count = found;
    if (!found)
        return NVML_ERROR_NOT_FOUND;
    return found > room ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

API nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t device, nvmlGpmSupport_t *support)
{
    ASK(device, "gpm");
    support->isSupportedDevice = of(device->gpu, "gpm", 1) > 0;
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t *sample)
{
    *sample = calloc(1, sizeof **sample);
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t sample)
{
    free(sample);
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t device, nvmlGpmSample_t sample)
{
    ASK(device, "gpmsample");
    sample->gpu = device->gpu;
    sample->instance = -1;
    sample->taken = 1;
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlGpmMigSampleGet(nvmlDevice_t device, unsigned int id, nvmlGpmSample_t sample)
{
    ASK(device, "gpmsample");
    sample->gpu = device->gpu;
    sample->instance = (int)id;
    sample->taken = 1;
    return NVML_SUCCESS;
}

/* `0.gpm.METRIC` for the whole GPU, `0.gpm.INSTANCE.METRIC` for an instance; NaN where not given. */
API nvmlReturn_t nvmlGpmMetricsGet(nvmlGpmMetricsGet_t *get)
{
    if (!get->sample1->taken || !get->sample2->taken)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (unsigned int i = 0; i < get->numMetrics; i++) {
        char key[64];
        if (get->sample2->instance < 0)
            snprintf(key, sizeof key, "gpm.%u", get->metrics[i].metricId);
        else
            snprintf(key, sizeof key, "gpm.%d.%u", get->sample2->instance,
                     get->metrics[i].metricId);
        get->metrics[i].nvmlReturn = NVML_SUCCESS;
        get->metrics[i].value = of(get->sample2->gpu, key, NAN);
    }
    return NVML_SUCCESS;
}
#endif

API nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *set)
{
    *set = calloc(1, sizeof **set);
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set)
{
    free(set);
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long kinds,
                                          nvmlEventSet_t set)
{
    ASK(device, "events");
    set->registered[device->gpu] = (kinds & nvmlEventTypeXidCriticalError) != 0;
    return NVML_SUCCESS;
}

/* `0.xids N` events so far on GPU 0, of code `0.xid`: each is delivered once. */
API nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *event, unsigned int wait_ms)
{
    static int delivered[MAX_GPUS];
    for (unsigned int waited = 0;; waited += 5) {
        for (int gpu = 0; gpu < MAX_GPUS; gpu++) {
            if (!set->registered[gpu] || delivered[gpu] >= of(gpu, "xids", 0))
                continue;
            delivered[gpu]++;
            memset(event, 0, sizeof *event);
            event->device = &cards[gpu];
            event->eventType = nvmlEventTypeXidCriticalError;
            event->eventData = (unsigned long long)of(gpu, "xid", 79);
            return NVML_SUCCESS;
        }
        if (number("eventerror", 0))
            return (nvmlReturn_t)number("eventerror", 0);
        if (waited >= wait_ms)
            return NVML_ERROR_TIMEOUT;
        usleep(5000);
    }
}
